package host

import (
	"os"
	"syscall"
)

// createdAt returns the time at which a file was created, in Unix milliseconds, or 0 if the file cannot be read.
func createdAt(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	system, ok := info.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return 0
	}
	return max(system.CreationTime.Nanoseconds()/1e6, 0)
}
