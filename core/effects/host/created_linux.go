package host

import "golang.org/x/sys/unix"

// createdAt is when a file was made, in Unix milliseconds; 0 where the file system does not
// keep it.
func createdAt(path string) int64 {
	var info unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_SYNC_AS_STAT, unix.STATX_BTIME, &info)
	if err != nil || info.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return max(info.Btime.Sec*1000+int64(info.Btime.Nsec)/1e6, 0)
}
