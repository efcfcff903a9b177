package rollout

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// lockSuffix is behind the name of a LineFile whose lock a file is.
const lockSuffix = ".lock"

// LineFile is a small file of the home to which several programs append lines. Its lock is a
// file of its own, since the file itself may be replaced.
type LineFile struct {
	store *Store
	path  string
}

// LineFile is the file of that name in the home; nothing is made before it is written to.
func (s *Store) LineFile(name string) LineFile { return LineFile{s, filepath.Join(s.home, name)} }

// Path is where the file is.
func (f LineFile) Path() string { return f.path }

// Lock keeps other programs from writing, or from replacing what is read; it makes the home if
// need be. Others hold the lock for no longer than a moment.
func (f LineFile) Lock(mode LockMode) (io.Closer, error) {
	if err := f.store.disk.MkdirAll(f.store.home, dirMode); err != nil {
		return nil, diskError("make", f.store.home, err)
	}
	return f.store.lockWait(f.path+lockSuffix, mode)
}

// Stat tells of the file; the error is fs.ErrNotExist where there is none.
func (f LineFile) Stat() (fs.FileInfo, error) { return f.store.disk.Stat(f.path) }

// Open opens the file for reading.
func (f LineFile) Open() (File, fs.FileInfo, error) { return f.store.open(f.path, os.O_RDONLY) }

// Append appends whole lines, which are durable when nil is returned, and not there otherwise. A
// last line that a crash has torn gets an end first. The caller holds the lock.
func (f LineFile) Append(lines []byte) error {
	return diskError("append to", f.path, f.append(lines))
}

func (f LineFile) append(lines []byte) error {
	file, info, err := f.store.open(f.path, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	tail := &appender{file: file, validSize: info.Size()}
	if tail.unterminated, err = endsOpen(file, info.Size()); err != nil {
		return err
	}
	return tail.append(lines, func() error { return firstError(file.Sync(), f.store.disk.SyncDir(f.store.home)) })
}

// Replace gives the file other content, at once and durably. The caller holds the lock.
func (f LineFile) Replace(content []byte) error {
	return diskError("replace", f.path, f.store.replace(f.path, content))
}

// endsOpen tells whether the last byte is other than LF.
func endsOpen(file File, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	_, err := file.ReadAt(last[:], size-1)
	return last[0] != '\n', err
}
