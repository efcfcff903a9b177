package rollout

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// lockSuffix is the suffix of the lock file of a LineFile.
const lockSuffix = ".lock"

// LineFile is a small file in home to which several programs append lines. Its lock is a
// separate file, because the file itself may be replaced.
type LineFile struct {
	store *Store
	path  string
}

// LineFile returns the file with this name in home. It creates nothing.
func (s *Store) LineFile(name string) LineFile { return LineFile{s, filepath.Join(s.home, name)} }

// Path returns the path of the file.
func (f LineFile) Path() string { return f.path }

// Lock excludes other programs from writing or replacing the file. It creates home if needed,
// and waits up to five seconds. Hold the lock only briefly.
func (f LineFile) Lock(mode LockMode) (io.Closer, error) {
	if err := f.store.disk.MkdirAll(f.store.home, dirMode); err != nil {
		return nil, diskError("make", f.store.home, err)
	}
	return f.store.lockWait(f.path+lockSuffix, mode)
}

// Stat describes the file. The error is fs.ErrNotExist if it is missing.
func (f LineFile) Stat() (fs.FileInfo, error) { return f.store.disk.Stat(f.path) }

// Open opens the file for reading.
func (f LineFile) Open() (File, fs.FileInfo, error) { return f.store.open(f.path, os.O_RDONLY) }

// Append appends whole lines, durably and all or nothing. It terminates a torn last line
// first. The caller holds the lock.
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

// Replace replaces the content of the file, atomically and durably. The caller holds the lock.
func (f LineFile) Replace(content []byte) error {
	return diskError("replace", f.path, f.store.replace(f.path, content))
}

// endsOpen reports whether the last byte is not LF.
func endsOpen(file File, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	_, err := file.ReadAt(last[:], size-1)
	return last[0] != '\n', err
}
