package disk

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"appserver/platform/osfile"
)

// OS returns the file system of the operating system.
func OS() FS { return osFS{} }

type osFS struct{}

func (osFS) MkdirAll(path string, perm fs.FileMode) error { return os.MkdirAll(path, perm) }
func (osFS) ReadDir(path string) ([]fs.DirEntry, error)   { return os.ReadDir(path) }
func (osFS) Stat(path string) (fs.FileInfo, error)        { return identified(os.Stat(path)) }
func (osFS) Lstat(path string) (fs.FileInfo, error)       { return identified(os.Lstat(path)) }
func (osFS) SameFile(a, b fs.FileInfo) bool               { return os.SameFile(a, b) }
func (osFS) Remove(path string) error                     { return os.Remove(path) }
func (osFS) Link(path, second string) error               { return os.Link(path, second) }
func (osFS) Rename(path, to string) error                 { return osfile.Rename(path, to) }
func (osFS) SyncDir(path string) error                    { return osfile.SyncFolder(path) }

func (osFS) SetAttributes(path string, like fs.FileInfo) error {
	if err := os.Chtimes(path, time.Time{}, like.ModTime()); err != nil {
		return err
	}
	return os.Chmod(path, like.Mode().Perm())
}

// identified reads the identity of a file now. On Windows, Go reads it at the first comparison, by the path, at which
// another file may be then.
func identified(info fs.FileInfo, err error) (fs.FileInfo, error) {
	if err == nil {
		_ = os.SameFile(info, info)
	}
	return info, err
}

// OpenFile does not wait for the other end of a FIFO.
func (osFS) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	f, err := osfile.Open(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// osFile overrides Truncate of its file.
type osFile struct{ *os.File }

// Truncate also truncates a file that is open to append.
func (f osFile) Truncate(size int64) error { return osfile.Truncate(f.File, size) }

// StartSync implements earlySyncer.
func (f osFile) StartSync(offset, size int64) { osfile.StartSync(f.File, offset, size) }

func (osFS) Lock(path string, mode LockMode) (io.Closer, error) {
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NONBLOCK), flock.SetPermissions(FileMode))
	try := lock.TryLock
	if mode == Shared {
		try = lock.TryRLock
	}
	held, err := try()
	if err == nil && held {
		return lock, nil
	}
	_ = lock.Close()
	if err == nil {
		err = ErrHeld
	}
	return nil, err
}
