package host

import (
	"os"
	"syscall"
)

// createdAt returns the creation time of a file in Unix milliseconds, or 0 if the file cannot be
// read.
func createdAt(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	born := info.Sys().(*syscall.Stat_t).Birthtimespec
	return max(born.Sec*1000+born.Nsec/1e6, 0)
}
