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

	// lockPatience bounds the wait for locks that are only ever held for an instant.
	lockTimeout       = 5 * time.Second
	lockRetryInterval = 5 * time.Millisecond
	// dyingPatience bounds the wait for a writer that was killed: a child that it was
	// just starting holds a copy of its lock until it runs its program.
	exitTimeout = 250 * time.Millisecond
)

// writerLock is held by the one writer of a thread.
type writerLock struct {
	disk FS // one that suspends no logs: a log that is suspended releases its lock
	path string
	held io.Closer
}

// lock makes the caller the writer of a thread, or fails with a *LockedError.
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

// release also removes the lock's file, unless somebody stands in the gate: between
// opening such a file and locking it. It can stay then: files without a holder do no
// harm.
func (l *writerLock) release() error {
	if gate, err := l.disk.Lock(coordinationPath(filepath.Dir(l.path)), Exclusive); err == nil {
		_ = l.disk.Remove(l.path)
		defer func() { _ = gate.Close() }()
	}
	return l.held.Close()
}

// Locked tells whether a thread has a writer, in whichever process. The gate is shut
// meanwhile, so that nobody who wants to be the writer finds the lock taken by this look.
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
	_ = s.disk.Remove(path) // of a writer that was killed
	return false, held.Close()
}

func coordinationPath(dir string) string { return filepath.Join(dir, coordinationName) }

// await takes a lock that others hold for no longer than a moment.
func (s *Store) lockWait(path string, mode LockMode) (io.Closer, error) {
	lock, err := s.lockFor(path, mode, lockTimeout)
	if err != nil {
		return nil, diskError("lock", path, err)
	}
	return lock, nil
}

// awaitFor tries for a time to take a lock.
func (s *Store) lockFor(path string, mode LockMode, patience time.Duration) (io.Closer, error) {
	for end := time.Now().Add(patience); ; time.Sleep(lockRetryInterval) {
		lock, err := s.disk.Lock(path, mode)
		if err == nil || !errors.Is(err, ErrHeld) || time.Now().After(end) {
			return lock, err
		}
	}
}
