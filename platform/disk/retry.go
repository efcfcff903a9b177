package disk

import (
	"io"
	"io/fs"
	"syscall"
)

// Retrying is a file system that frees file descriptors and retries an operation if the process
// has none left. It overrides the operations of its FS that need descriptors.
type Retrying struct {
	FS
	// Free closes file descriptors and reports whether it closed any. It may be nil.
	Free func() bool
}

// retry retries once even if Free closed nothing: another goroutine may have freed descriptors since
// the failure. It retries again as long as Free closes some, since other goroutines take them too.
func (f Retrying) retry(do func() error) error {
	err := do()
	for freed := f.Free != nil; freed && isAny(err, syscall.EMFILE, syscall.ENFILE); err = do() {
		freed = f.Free()
	}
	return err
}

// OpenFile opens a file, with a retry.
func (f Retrying) OpenFile(path string, flag int, perm fs.FileMode) (file File, err error) {
	err = f.retry(func() (err error) { file, err = f.FS.OpenFile(path, flag, perm); return err })
	return file, err
}

// ReadDir reads a folder, with a retry.
func (f Retrying) ReadDir(path string) (entries []fs.DirEntry, err error) {
	err = f.retry(func() (err error) { entries, err = f.FS.ReadDir(path); return err })
	return entries, err
}

// SyncDir syncs a folder, with a retry.
func (f Retrying) SyncDir(path string) error {
	return f.retry(func() error { return f.FS.SyncDir(path) })
}

// Lock acquires a lock, with a retry.
func (f Retrying) Lock(path string, mode LockMode) (lock io.Closer, err error) {
	err = f.retry(func() (err error) { lock, err = f.FS.Lock(path, mode); return err })
	return lock, err
}
