package osfile

import (
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// OpenRealFolder opens a folder by a path without links. If a part of the path has become a link, it returns
// ErrNotFolder.
func OpenRealFolder(path string) (*Folder, error) {
	how := unix.OpenHow{Flags: folderFlags, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // an old kernel, or a container that forbids it
		fd, err = openParts(path)
	}
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		err = ErrNotFolder
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &Folder{fd}, nil
}

// openParts opens the parts of an absolute path one by one.
func openParts(path string) (int, error) {
	if parts := strings.Trim(path, "/"); parts == "" {
		return unix.Open("/", folderFlags, 0)
	}
	const through = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open("/", through, 0)
	parts := strings.FieldsFunc(path, func(c rune) bool { return c == '/' })
	for i, part := range parts {
		if err != nil {
			break
		}
		flags := through
		if i == len(parts)-1 {
			flags = folderFlags
		}
		outer := fd
		fd, err = unix.Openat(outer, part, flags, 0)
		_ = unix.Close(outer)
	}
	return fd, err
}
