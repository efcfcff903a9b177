package osfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// ErrNotFolder is the error of Open for something other than a folder, such as a link.
var ErrNotFolder = errors.New("it is no folder")

// errChanged is the error of LinkUnchanged for a file that has changed.
var errChanged = errors.New("the file has changed")

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

// LinkUnchanged creates a second name for a file, which must not exist, if the file still is as
// described. It costs less than a new file with the same content: it allocates no inode, and content
// that was synced needs no sync. The file has to be replaced from then on, and never written in place.
func (f *Folder) LinkUnchanged(name string, to *Folder, newName string, was Info) error {
	if err := f.Link(name, to, newName); err != nil {
		return err
	}
	is, err := to.Stat(newName)
	if err == nil && is != was {
		err = &fs.PathError{Op: "link", Path: name, Err: errChanged}
	}
	if err != nil {
		return errors.Join(err, to.Remove(newName))
	}
	return nil
}

// readNames returns names in an open folder, at most limit.
func readNames(dir *os.File, limit int) ([]string, error) {
	names, err := dir.Readdirnames(limit)
	if errors.Is(err, io.EOF) { // the folder is empty
		err = nil
	}
	return names, err
}
