//go:build unix

package sandbox

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openAtOnce is a flag with which opening a FIFO does not wait.
const openAtOnce = unix.O_NONBLOCK

// openRegular opens a regular file. Opening any other file could block.
func openRegular(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, fs.ErrInvalid
	}
	return file, nil
}
