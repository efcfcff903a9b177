package osfile

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// IdentityOf returns the identity of a file, without following a link.
func IdentityOf(path string) (Identity, error) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st)
	if err != nil {
		return Identity{}, &fs.PathError{Op: "statx", Path: path, Err: err}
	}
	id := Identity{Disk: unix.Mkdev(st.Dev_major, st.Dev_minor), File: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		id.Born = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	return id, nil
}
