package rollout

import (
	"errors"
	"io"
	"path/filepath"
	"time"
)

const (
	locksDir         = "thread-writer-locks"
	coordinationName = ".coordination.lock"

	// lockTimeout bounds the wait for locks that are held only briefly.
	lockTimeout       = 5 * time.Second
	lockRetryInterval = 5 * time.Millisecond
	// exitTimeout bounds the wait for a killed writer. A child that it was starting holds a
	// copy of the lock until exec.
	exitTimeout = 250 * time.Millisecond
)

// writerLock is the writer lock of a thread.
type writerLock struct {
	disk FS // not retryFS, because suspending a log releases its lock
	path string
	held io.Closer
}

// lock takes the writer lock of a thread, or returns a *LockedError.
func (s *Store) lock(id string) (*writerLock, error) {
	dir := filepath.Join(s.home, locksDir)
	if err := s.disk.MkdirAll(dir, dirMode); err != nil {
		return nil, diskError("make", dir, err)
	}
	gate, err := s.lockWait(coordinationPath(dir), Shared)
	if err != nil {
		return nil, err
	}
	defer func() { _ = gate.Close() }()
	path := filepath.Join(dir, id+".lock")
	held, err := s.lockFor(path, Exclusive, exitTimeout)
	if errors.Is(err, ErrHeld) {
		return nil, &LockedError{id}
	}
	if err != nil {
		return nil, diskError("lock", path, err)
	}
	return &writerLock{s.disk.FS, path, held}, nil
}

// release releases the lock. It removes the lock file as well, unless another process may have
// opened it. A lock file without a holder does no harm.
func (l *writerLock) release() error {
	if gate, err := l.disk.Lock(coordinationPath(filepath.Dir(l.path)), Exclusive); err == nil {
		_ = l.disk.Remove(l.path)
		defer func() { _ = gate.Close() }()
	}
	return l.held.Close()
}

// Locked reports whether a thread has a writer in any process. It holds the coordination lock,
// so that a new writer does not find the lock taken by this check.
func (s *Store) Locked(id string) (bool, error) {
	path := filepath.Join(s.home, locksDir, id+".lock")
	if _, err := s.disk.Lstat(path); isNotExist(err) {
		return false, nil
	}
	gate, err := s.lockWait(coordinationPath(filepath.Dir(path)), Exclusive)
	if err != nil {
		return false, err
	}
	defer func() { _ = gate.Close() }()
	held, err := s.disk.Lock(path, Shared)
	if errors.Is(err, ErrHeld) {
		return true, nil
	}
	if err != nil {
		return false, diskError("lock", path, err)
	}
	_ = s.disk.Remove(path) // left by a killed writer
	return false, held.Close()
}

func coordinationPath(dir string) string { return filepath.Join(dir, coordinationName) }

// lockWait takes a lock that others hold only briefly.
func (s *Store) lockWait(path string, mode LockMode) (io.Closer, error) {
	lock, err := s.lockFor(path, mode, lockTimeout)
	if err != nil {
		return nil, diskError("lock", path, err)
	}
	return lock, nil
}

// lockFor retries for the given time to take a lock.
func (s *Store) lockFor(path string, mode LockMode, timeout time.Duration) (io.Closer, error) {
	for end := time.Now().Add(timeout); ; time.Sleep(lockRetryInterval) {
		lock, err := s.disk.Lock(path, mode)
		if err == nil || !errors.Is(err, ErrHeld) || time.Now().After(end) {
			return lock, err
		}
	}
}
