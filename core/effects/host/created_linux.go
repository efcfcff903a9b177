package host

import "golang.org/x/sys/unix"

// createdAt returns the creation time of a file in Unix milliseconds, or 0 if the file system does
// not keep it.
func createdAt(path string) int64 {
	var info unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_SYNC_AS_STAT, unix.STATX_BTIME, &info)
	if err != nil || info.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return max(info.Btime.Sec*1000+int64(info.Btime.Nsec)/1e6, 0)
}
