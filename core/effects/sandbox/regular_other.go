//go:build !unix

package sandbox

import (
	"io/fs"
	"os"
)

// openAtOnce is a flag with which opening a file does not wait.
const openAtOnce = 0

// openRegular opens a regular file.
func openRegular(path string) (*os.File, error) {
	if !is(path, 0) {
		return nil, fs.ErrInvalid
	}
	return os.Open(path)
}
