package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// lockTimeout bounds the wait for locks that are held only briefly.
	lockTimeout       = 5 * time.Second
	lockRetryInterval = 5 * time.Millisecond
)

// LockWait acquires a lock that others hold only briefly. It waits for up to five seconds.
func LockWait(disk FS, path string, mode LockMode) (io.Closer, error) {
	lock, err := LockWithin(disk, path, mode, lockTimeout)
	if err != nil {
		return nil, Wrap("lock", path, err)
	}
	return lock, nil
}

// LockWithin tries for the given time to take a lock. If another holder keeps it, the error is
// ErrHeld.
func LockWithin(disk FS, path string, mode LockMode, timeout time.Duration) (io.Closer, error) {
	for end := time.Now().Add(timeout); ; time.Sleep(lockRetryInterval) {
		lock, err := disk.Lock(path, mode)
		if err == nil || !errors.Is(err, ErrHeld) || time.Now().After(end) {
			return lock, err
		}
	}
}

// longRetryInterval is the time between two attempts to take a lock that can be held for long.
const longRetryInterval = 10 * time.Millisecond

// LockContext waits for an exclusive lock until ctx is done, or for the given time. Its holder may wait for a network.
func LockContext(ctx context.Context, disk FS, path string, timeout time.Duration) (io.Closer, error) {
	for end := time.Now().Add(timeout); ; {
		lock, err := disk.Lock(path, Exclusive)
		switch {
		case err == nil:
			return lock, nil
		case !errors.Is(err, ErrHeld):
			return nil, Wrap("lock", path, err)
		case time.Now().After(end):
			return nil, fmt.Errorf("another process holds %s for more than %s: end it, and try again", path, timeout)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(longRetryInterval):
		}
	}
}
