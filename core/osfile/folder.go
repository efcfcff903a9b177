package osfile

import (
	"errors"
	"io/fs"
)

// ErrNotFolder is the error of Open for something other than a folder, such as a link.
var ErrNotFolder = errors.New("it is no folder")

// Info describes a file. Two descriptions of an unchanged file are equal.
type Info struct {
	// Kind has the bits of the type, which are 0 for a regular file.
	Kind fs.FileMode
	// Perm has the permissions. On Windows, they only say whether the file is read-only.
	Perm fs.FileMode
	// Disk and File identify the file.
	Disk, File uint64
	Size       int64
	// ModTime is in Unix nanoseconds.
	ModTime int64
}
