package rollout

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
)

// idleLogs are the logs whose descriptors can be closed if the process runs out of them. An idle
// log belongs to this list, and to its goroutine again once that has taken it off the list.
type idleLogs struct {
	mu   sync.Mutex
	logs []*Log
}

func (i *idleLogs) add(l *Log) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.logs = append(i.logs, l)
}

func (i *idleLogs) remove(l *Log) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.logs = slices.DeleteFunc(i.logs, func(other *Log) bool { return other == l })
}

// suspend closes the descriptors of all idle logs, and reports whether there were any.
func (i *idleLogs) suspend() (freed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, l := range i.logs {
		freed = l.suspend() || freed
	}
	return freed
}

// frugalFS is a file system that suspends idle logs and tries again if descriptors run out.
type retryFS struct {
	FS
	idle *idleLogs
}

func (f retryFS) retry(do func() error) error {
	err := do()
	if isAny(err, syscall.EMFILE, syscall.ENFILE) && f.idle.suspend() {
		return do()
	}
	return err
}

// OpenFile needs a descriptor.
func (f retryFS) OpenFile(path string, flag int, perm fs.FileMode) (file File, err error) {
	err = f.retry(func() (err error) { file, err = f.FS.OpenFile(path, flag, perm); return err })
	return file, err
}

// ReadDir needs a descriptor.
func (f retryFS) ReadDir(path string) (entries []fs.DirEntry, err error) {
	err = f.retry(func() (err error) { entries, err = f.FS.ReadDir(path); return err })
	return entries, err
}

// SyncDir needs a descriptor.
func (f retryFS) SyncDir(path string) error {
	return f.retry(func() error { return f.FS.SyncDir(path) })
}

// Lock needs a descriptor.
func (f retryFS) Lock(path string, mode LockMode) (lock io.Closer, err error) {
	err = f.retry(func() (err error) { lock, err = f.FS.Lock(path, mode); return err })
	return lock, err
}

// ErrChanged is the error of a log whose file another program has changed while it was suspended.
// The log is of no use then: the thread has to be opened again.
var ErrChanged = errors.New("another program has changed it while its file was closed for want of descriptors")

// SetIdle sets whether the store may suspend the log: close its descriptors, its lock's among
// them, when the process has no others left. No method of an idle log is called, except for this
// one, and nothing of its Text. A suspended log takes its lock and its file back in [Log.Resume].
func (l *Log) SetIdle(idle bool) {
	if l.idle == idle {
		return
	}
	l.idle = idle
	if idle {
		l.store.disk.idle.add(l)
	} else {
		l.store.disk.idle.remove(l)
	}
}

// suspend closes the descriptors of a log that has nothing left to write. A crash then loses as
// little as it would of a log that was closed.
func (l *Log) suspend() (freed bool) {
	if l.closed || l.suspended != nil || l.lock == nil || l.tail == nil || l.unpublished || l.dirty || l.tail.torn {
		return false
	}
	info, err := l.tail.file.Stat()
	if err != nil || info.Size() != l.tail.validSize {
		return false
	}
	if l.lines.suspend() != nil {
		return false
	}
	l.suspended = info
	_ = l.tail.file.Close() // all of it is durable
	_ = l.lock.release()
	l.tail.file, l.lock = nil, nil
	return true
}

// Resume takes the lock and the file of a suspended log back. It fails with a *LockedError if the
// thread has another writer by now, and with ErrChanged if the file is not what it was. After any
// other error it can be called again.
func (l *Log) Resume() error {
	if l.suspended == nil || l.closed {
		return nil
	}
	lock, err := l.store.lock(l.id)
	if err != nil {
		return err
	}
	file, info, err := l.store.open(l.path, os.O_RDWR|os.O_APPEND)
	if isNotExist(err) || err == nil && !l.store.isUnchanged(l.suspended, info) {
		err = diskError("append to", l.path, firstError(ErrChanged, closeOf(file)))
	}
	if err == nil {
		if err = l.lines.resume(l.store, file); err != nil {
			_ = file.Close()
		}
	}
	if err != nil {
		_ = lock.release()
		return err
	}
	l.lock, l.tail.file, l.suspended = lock, file, nil
	return nil
}

func closeOf(file File) error {
	if file == nil {
		return nil
	}
	return file.Close()
}

// isUnchanged compares times, too: a file that was replaced can have the number of the old one.
func (s *Store) isUnchanged(before, now fs.FileInfo) bool {
	return s.disk.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}
