package disk

import (
	"errors"
	"io"
	"io/fs"
)

// Modes of new folders and files.
const (
	DirMode  = 0o700
	FileMode = 0o600
)

// FS is the part of a file system that rollouts need. Errors are those of package os. Paths are
// in the system's form.
type FS interface {
	// MkdirAll creates a folder and its missing parents.
	MkdirAll(path string, perm fs.FileMode) error
	// OpenFile returns os.OpenFile, except that it never blocks, for example on a FIFO.
	OpenFile(path string, flag int, perm fs.FileMode) (File, error)
	// ReadDir returns the entries of a folder in any order.
	ReadDir(path string) ([]fs.DirEntry, error)
	// Stat follows symbolic links.
	Stat(path string) (fs.FileInfo, error)
	// Lstat does not follow symbolic links.
	Lstat(path string) (fs.FileInfo, error)
	// SameFile reports whether two results of Stat, Lstat or File.Stat describe the same file.
	SameFile(a, b fs.FileInfo) bool
	// Remove removes a file.
	Remove(path string) error
	// Link creates a hard link. The new name must not exist.
	Link(path, second string) error
	// Rename renames a file and atomically replaces an existing one.
	Rename(path, to string) error
	// SetAttributes copies the modification time and the permissions of another file. SyncDir makes them durable.
	SetAttributes(path string, like fs.FileInfo) error
	// SyncDir makes the entries of a folder durable.
	SyncDir(path string) error
	// Lock acquires an advisory lock on a file and creates the file if needed. It does not wait:
	// if the lock is held, it returns ErrHeld. Locks exclude each other within a process as
	// well.
	Lock(path string, mode LockMode) (io.Closer, error)
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.Writer
	io.Closer
	// Sync makes the content durable, but not the name.
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
}

// Compressed is a file whose content is decompressed while it is read. Its FileInfo describes the compressed file.
type Compressed interface {
	File
	// Length returns the length of the content in bytes. It decompresses all of the content, and later reads are from
	// a copy.
	Length() (int64, error)
	// Problem returns the reason why the rest of the file cannot be decompressed, or nil. It is known after the content
	// was read to its end.
	Problem() error
}

// Length returns the length of the content of an open file with a description, in bytes.
func Length(file File, info fs.FileInfo) (int64, error) {
	if c, ok := file.(Compressed); ok {
		return c.Length()
	}
	return info.Size(), nil
}

// Problem returns the problem of a compressed file, or nil for any other file.
func Problem(file File) error {
	if c, ok := file.(Compressed); ok {
		return c.Problem()
	}
	return nil
}

// LockMode is Shared or Exclusive.
type LockMode int

// A lock has several shared holders or one exclusive holder.
const (
	Shared LockMode = iota
	Exclusive
)

// ErrHeld is returned by FS.Lock if another holder has the lock.
var ErrHeld = errors.New("lock is held")
