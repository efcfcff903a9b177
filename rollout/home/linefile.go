package home

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"appserver/platform/disk"
)

// lockSuffix is the suffix of the lock file of a LineFile.
const lockSuffix = ".lock"

// LineFile is a small file in home to which several programs append lines. Its lock is a
// separate file, because the file itself may be replaced.
type LineFile struct {
	home *Home
	path string
}

// LineFile returns the file with this name in home. It creates nothing.
func (h *Home) LineFile(name string) LineFile { return LineFile{h, filepath.Join(h.dir, name)} }

// Path returns the path of the file.
func (f LineFile) Path() string { return f.path }

// Lock excludes other programs from writing or replacing the file. It creates home if needed,
// and waits up to five seconds. Hold the lock only briefly.
func (f LineFile) Lock(mode disk.LockMode) (io.Closer, error) {
	if err := f.home.disk.MkdirAll(f.home.dir, disk.DirMode); err != nil {
		return nil, disk.Wrap("make", f.home.dir, err)
	}
	return disk.LockWait(f.home.disk, f.path+lockSuffix, mode)
}

// Stat describes the file. The error is fs.ErrNotExist if it is missing.
func (f LineFile) Stat() (fs.FileInfo, error) { return f.home.disk.Stat(f.path) }

// Open opens the file for reading.
func (f LineFile) Open() (disk.File, fs.FileInfo, error) {
	return disk.Open(f.home.disk, f.path, os.O_RDONLY)
}

// Append appends whole lines, durably and all or nothing. It terminates a torn last line
// first. The caller holds the lock.
func (f LineFile) Append(lines []byte) error {
	return disk.Wrap("append to", f.path, f.append(lines))
}

func (f LineFile) append(lines []byte) error {
	file, info, err := disk.Open(f.home.disk, f.path, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	tail := &disk.Appender{File: file, Size: info.Size()}
	if tail.Unterminated, err = endsOpen(file, info.Size()); err != nil {
		return err
	}
	return tail.Append(lines, func() error { return cmp.Or(file.Sync(), f.home.disk.SyncDir(f.home.dir)) })
}

// Replace replaces the content of the file, atomically and durably. The caller holds the lock.
func (f LineFile) Replace(content []byte) error {
	return disk.Wrap("replace", f.path, disk.Replace(f.home.disk, f.path, content))
}

// endsOpen reports whether the last byte is not LF.
func endsOpen(file disk.File, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	_, err := file.ReadAt(last[:], size-1)
	return last[0] != '\n', err
}
