package osfile

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// IdentityOf returns the identity of a file, without following a link.
func IdentityOf(path string) (Identity, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return Identity{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return Identity{uint64(st.Dev), st.Ino, max(st.Btim.Nano(), 0)}, nil
}
