//go:build unix

package index

import (
	"io/fs"
	"syscall"
)

// inodeOf returns the number of a file on its disk, or 0 for a file in memory.
func inodeOf(info fs.FileInfo) int64 {
	if system, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(system.Ino)
	}
	return 0
}
