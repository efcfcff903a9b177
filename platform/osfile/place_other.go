//go:build !linux

package osfile

import (
	"os"
	"path/filepath"
)

// isKernelFile reports false: this system has no such files.
func isKernelFile(*os.File) bool { return false }

// pathOf returns the path of an open file, without links. It fails if the name leads to another file by now.
func pathOf(f *os.File) (string, error) {
	path, err := filepath.EvalSymlinks(f.Name())
	if err != nil {
		return "", err
	}
	is, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	was, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !os.SameFile(is, was) {
		return "", errChanged
	}
	return path, nil
}
