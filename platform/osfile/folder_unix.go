//go:build unix

package osfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Folder is an open folder. Its methods take single names and follow no link.
type Folder struct{ fd int }

const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// OpenFolder opens a folder, or a link to one.
func OpenFolder(path string) (*Folder, error) {
	fd, err := unix.Open(path, folderFlags&^unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &Folder{fd}, nil
}

// Open opens a folder in this one.
func (f *Folder) Open(name string) (*Folder, error) {
	fd, err := unix.Openat(f.fd, name, folderFlags, 0)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		err = ErrNotFolder
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &Folder{fd}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return unix.Close(f.fd) }

// Stat describes a file. It follows no link.
func (f *Folder) Stat(name string) (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return infoOf(&st), nil
}

// InfoOf describes an open file.
func InfoOf(file *os.File) (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: file.Name(), Err: err}
	}
	return infoOf(&st), nil
}

func infoOf(st *unix.Stat_t) Info {
	return Info{kindOf(uint32(st.Mode) & unix.S_IFMT), fs.FileMode(st.Mode & 0o777), uint64(st.Dev), st.Ino, st.Size,
		st.Mtim.Nano()}
}

func kindOf(format uint32) fs.FileMode {
	switch format {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	}
	return fs.ModeIrregular
}

// Readlink returns the target of a link.
func (f *Folder) Readlink(name string) (string, error) {
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(f.fd, name, target)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(target[:n]), nil
}

// OpenFile opens a file or folder to read it. It never blocks, even if the name has become another kind of file.
func (f *Folder) OpenFile(name string) (*os.File, error) {
	return f.openFile(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
}

// Names returns names in the folder, at most limit.
func (f *Folder) Names(limit int) ([]string, error) {
	dir, err := f.openFile(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return readNames(dir, limit)
}

// Create creates a file that must not exist, to write it.
func (f *Folder) Create(name string, perm fs.FileMode) (*os.File, error) {
	return f.openFile(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, perm)
}

func (f *Folder) openFile(name string, flags int, perm fs.FileMode) (*os.File, error) {
	fd, err := unix.Openat(f.fd, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(perm))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// Mkdir creates a folder in this one.
func (f *Folder) Mkdir(name string, perm fs.FileMode) error {
	return unix.Mkdirat(f.fd, name, uint32(perm))
}

// Symlink creates a link.
func (f *Folder) Symlink(target, name string) error { return unix.Symlinkat(target, f.fd, name) }

// Remove removes a file or a link, and no folder.
func (f *Folder) Remove(name string) error { return unix.Unlinkat(f.fd, name, 0) }

// RemoveFolder removes an empty folder, and nothing else.
func (f *Folder) RemoveFolder(name string) error { return unix.Unlinkat(f.fd, name, unix.AT_REMOVEDIR) }

// Rename moves a file, and replaces a file at the new name.
func (f *Folder) Rename(name string, to *Folder, newName string) error {
	return unix.Renameat(f.fd, name, to.fd, newName)
}

// Link creates a second name for a file, which must not exist.
func (f *Folder) Link(name string, to *Folder, newName string) error {
	return unix.Linkat(f.fd, name, to.fd, newName, 0)
}
