package osfile

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// OpenRealFolder opens a folder by a path without links. If a part of the path has become a link, it returns
// ErrNotFolder.
func OpenRealFolder(path string) (*Folder, error) {
	fd, err := unix.Open(path, folderFlags&^unix.O_NOFOLLOW|unix.O_NOFOLLOW_ANY, 0)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		err = ErrNotFolder
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &Folder{fd}, nil
}
