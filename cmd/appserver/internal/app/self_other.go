//go:build !linux || posix

package app

import "os"

// self returns the path of this program. After its file was replaced, it is that of the new one.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}
