package rollout

import (
	"errors"
	"io"
	"io/fs"
)

// FS is the part of a file system that the log needs. Errors are those of package
// os; paths are in the form of the system.
type FS interface {
	// MkdirAll makes a folder and those above it that are missing.
	MkdirAll(path string, perm fs.FileMode) error
	// OpenFile is os.OpenFile, except that it never waits, whatever path is.
	OpenFile(path string, flag int, perm fs.FileMode) (File, error)
	// ReadDir lists a folder in any order.
	ReadDir(path string) ([]fs.DirEntry, error)
	// Stat follows links.
	Stat(path string) (fs.FileInfo, error)
	// Lstat tells of a link itself.
	Lstat(path string) (fs.FileInfo, error)
	// SameFile tells whether both, of Stat, Lstat or File.Stat, are of one file.
	SameFile(a, b fs.FileInfo) bool
	// Remove takes away a file.
	Remove(path string) error
	// Link gives a file a second name, which must be free.
	Link(path, second string) error
	// Rename gives a file another name, at once also where another file has it.
	Rename(path, to string) error
	// SyncDir makes the entries of a folder durable.
	SyncDir(path string) error
	// Lock takes an advisory lock on a file, which it makes if need be, without
	// waiting: ErrHeld tells that another holder is in the way. Two locks exclude
	// each other within a process as they do between processes.
	Lock(path string, mode LockMode) (io.Closer, error)
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.Writer
	io.Closer
	// Sync makes the file's content durable, not its name.
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
}

// LockMode is Shared or Exclusive.
type LockMode int

// A lock has many shared holders or one exclusive one.
const (
	Shared LockMode = iota
	Exclusive
)

// ErrHeld is what FS.Lock answers while another holder is in the way.
var ErrHeld = errors.New("lock is held")
