package vault

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"appserver/platform/disk"
)

const (
	// maxFile bounds the size of the file, in bytes.
	maxFile = 1 << 20
	// lockTime bounds the wait for a lock. Its holder may wait for a network.
	lockTime = time.Minute
)

// Path returns the path of the file. If it is a symbolic link, it is that of its target, so that the link survives.
func (s *Store[T]) Path() string {
	path := filepath.Join(s.Home, s.File)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// loadFile returns the document in the file, or nil if the file does not exist. The error names the file and a link to
// it, and has no part of it.
func (s *Store[T]) loadFile() (*T, error) {
	path := s.Path()
	d, err := s.readFile(path)
	if link := filepath.Join(s.Home, s.File); err != nil && filepath.Base(path) != s.File {
		return nil, fmt.Errorf("%s cannot be read through the link %s: %w", s.Subject, link, err)
	}
	return d, err
}

func (s *Store[T]) readFile(path string) (*T, error) {
	in, info, err := disk.Open(s.Disk, path, os.O_RDONLY)
	if disk.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if info.Size() > maxFile {
		return nil, s.damaged(path, fmt.Errorf("it is larger than %d bytes", maxFile))
	}
	text, err := disk.ReadAll(in, info.Size())
	if err != nil {
		return nil, disk.Wrap("read", path, err)
	}
	d, err := s.Form.Parse(text)
	if err != nil {
		return nil, s.damaged(path, err)
	}
	*s.Form.Place(d) = inFile
	return d, nil
}

func (s *Store[T]) damaged(path string, reason error) error {
	return fmt.Errorf("%s is damaged: %w; it is left as it is: move it away, and %s", path, reason, s.Advice)
}

// saveFile replaces the file durably.
func (s *Store[T]) saveFile(text []byte) error {
	path := s.Path()
	if len(text) > maxFile {
		return fmt.Errorf("%s would be larger than %d bytes", path, maxFile)
	}
	return disk.Wrap("write", path, disk.Replace(s.Disk, path, text))
}

// removeFile removes the file, and reports whether it existed.
func (s *Store[T]) removeFile() (bool, error) {
	path := s.Path()
	if err := s.Disk.Remove(path); disk.IsNotExist(err) {
		return false, nil
	} else if err != nil {
		return false, disk.Wrap("remove", path, err)
	}
	return true, disk.Wrap("remove", path, s.Disk.SyncDir(filepath.Dir(path)))
}

// Lock acquires locks in this order, and returns the function that releases them. A document in memory needs none.
func (s *Store[T]) Lock(ctx context.Context, names ...string) (unlock func(), err error) {
	if s.Mode == Ephemeral {
		return func() {}, nil
	}
	var held []io.Closer
	unlock = func() {
		for i := len(held) - 1; i >= 0; i-- {
			_ = held[i].Close()
		}
	}
	if err := s.Disk.MkdirAll(s.Home, disk.DirMode); err != nil {
		return nil, disk.Wrap("create", s.Home, err)
	}
	for _, name := range names {
		lock, err := disk.LockContext(ctx, s.Disk, filepath.Join(s.Home, name), lockTime)
		if err != nil {
			unlock()
			return nil, err
		}
		held = append(held, lock)
	}
	return unlock, nil
}
