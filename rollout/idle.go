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

// idleLogs holds the logs whose file descriptors may be closed. The goroutine of a log must
// not use the log while it is in this list.
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

// suspend closes the file descriptors of all idle logs. It reports whether any were closed.
func (i *idleLogs) suspend() (freed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, l := range i.logs {
		freed = l.suspend() || freed
	}
	return freed
}

// retryFS suspends idle logs and retries if the process has no file descriptors left.
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

// OpenFile opens a file, with a retry.
func (f retryFS) OpenFile(path string, flag int, perm fs.FileMode) (file File, err error) {
	err = f.retry(func() (err error) { file, err = f.FS.OpenFile(path, flag, perm); return err })
	return file, err
}

// ReadDir reads a folder, with a retry.
func (f retryFS) ReadDir(path string) (entries []fs.DirEntry, err error) {
	err = f.retry(func() (err error) { entries, err = f.FS.ReadDir(path); return err })
	return entries, err
}

// SyncDir syncs a folder, with a retry.
func (f retryFS) SyncDir(path string) error {
	return f.retry(func() error { return f.FS.SyncDir(path) })
}

// Lock takes a lock, with a retry.
func (f retryFS) Lock(path string, mode LockMode) (lock io.Closer, err error) {
	err = f.retry(func() (err error) { lock, err = f.FS.Lock(path, mode); return err })
	return lock, err
}

// ErrChanged reports that another program changed a log's file while the log was suspended.
// The log cannot be used any more; the thread must be opened again.
var ErrChanged = errors.New("another program changed the file while it was closed to save file descriptors")

// SetIdle sets whether the store may suspend the log. A suspended log has closed its file
// descriptors and released its lock. While the log is idle, the caller uses neither its
// LineReader nor any method but SetIdle. [Log.Resume] ends the suspension.
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

// suspend closes the file descriptors, unless the log has unsynced or failed writes. So a
// crash loses no more than it would of a closed log.
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
	_ = l.tail.file.Close() // all content is durable
	_ = l.lock.release()
	l.tail.file, l.lock = nil, nil
	return true
}

// Resume reopens a suspended log. It returns a *LockedError if the thread has another writer,
// and ErrChanged if the file has changed. After any other error it can be called again.
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

// isUnchanged reports whether a file is unchanged. It compares the modification time too,
// because a new file may have the inode number of the old one.
func (s *Store) isUnchanged(before, now fs.FileInfo) bool {
	return s.disk.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}
