package home

import (
	"errors"
	"io"
	"path/filepath"
	"time"

	"appserver/platform/disk"
)

const (
	locksDir         = "thread-writer-locks"
	coordinationName = ".coordination.lock"

	// exitTimeout bounds the wait for a killed writer. A child that it was starting holds a
	// copy of the lock until exec.
	exitTimeout = 250 * time.Millisecond
)

// WriterLock is the writer lock of a thread.
type WriterLock struct {
	disk disk.FS
	path string
	held io.Closer
}

// Lock acquires the writer lock of a thread, or returns a *LockedError.
func (h *Home) Lock(id string) (*WriterLock, error) {
	dir := filepath.Join(h.dir, locksDir)
	if err := h.disk.MkdirAll(dir, disk.DirMode); err != nil {
		return nil, disk.Wrap("make", dir, err)
	}
	gate, err := disk.LockWait(h.disk, coordinationPath(dir), disk.Shared)
	if err != nil {
		return nil, err
	}
	defer func() { _ = gate.Close() }()
	path := filepath.Join(dir, id+".lock")
	held, err := disk.LockWithin(h.disk, path, disk.Exclusive, exitTimeout)
	if errors.Is(err, disk.ErrHeld) {
		return nil, &LockedError{id}
	}
	if err != nil {
		return nil, disk.Wrap("lock", path, err)
	}
	return &WriterLock{h.locks, path, held}, nil
}

// Release releases the lock. It removes the lock file as well, unless another process may have
// opened it. A lock file without a holder does no harm. The file is closed first, because Windows
// removes no file with a lock; meanwhile, the coordination lock keeps others from it.
func (l *WriterLock) Release() error {
	gate, failed := l.disk.Lock(coordinationPath(filepath.Dir(l.path)), disk.Exclusive)
	err := l.held.Close()
	if failed == nil {
		_ = l.disk.Remove(l.path)
		_ = gate.Close()
	}
	return err
}

// Locked reports whether a thread has a writer in any process. It holds the coordination lock,
// so that a new writer does not find the lock taken by this check.
func (h *Home) Locked(id string) (bool, error) {
	path := filepath.Join(h.dir, locksDir, id+".lock")
	if _, err := h.disk.Lstat(path); disk.IsNotExist(err) {
		return false, nil
	}
	gate, err := disk.LockWait(h.disk, coordinationPath(filepath.Dir(path)), disk.Exclusive)
	if err != nil {
		return false, err
	}
	defer func() { _ = gate.Close() }()
	held, err := h.disk.Lock(path, disk.Shared)
	if errors.Is(err, disk.ErrHeld) {
		return true, nil
	}
	if err != nil {
		return false, disk.Wrap("lock", path, err)
	}
	err = held.Close()
	_ = h.disk.Remove(path) // left by a killed writer
	return false, err
}

func coordinationPath(dir string) string { return filepath.Join(dir, coordinationName) }
