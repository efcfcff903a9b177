//go:build linux || darwin

package doctor

import "syscall"

// freeSpace returns the bytes that the user can write in the file system of a folder.
func freeSpace(dir string) (uint64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}

// openFiles returns the limit of open files of this process. The runtime of Go has raised it as far as permitted.
func openFiles() (uint64, bool) {
	var l syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return l.Cur, err == nil
}
