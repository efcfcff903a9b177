package rollout

import (
	"os"

	"appserver/platform/disk"
)

// SetIdle sets whether the store may suspend the log. A suspended log has closed its file
// descriptors and released its lock. While the log is idle, the caller uses neither its
// LineReader nor any method but SetIdle. [Log.Resume] ends the suspension.
func (l *Log) SetIdle(idle bool) {
	if l.idle == idle {
		return
	}
	l.idle = idle
	if idle {
		l.lines.forgetWindow()
		l.store.idle.add(l)
	} else {
		l.store.idle.remove(l)
	}
}

// suspend closes the file descriptors, unless the log has unsynced or failed writes. So a
// crash loses no more than it would of a closed log. A volatile log has no unsynced writes.
func (l *Log) suspend() (freed bool) {
	if l.closed || l.suspended != nil || l.lock == nil || l.tail == nil || l.unpublished || l.dirty || l.tail.Torn {
		return false
	}
	info, err := l.tail.File.Stat()
	if err != nil || info.Size() != l.tail.Size {
		return false
	}
	if l.lines.suspend() != nil {
		return false
	}
	l.suspended = info
	_ = l.tail.File.Close() // all content is durable
	_ = l.lock.Release()
	l.tail.File, l.lock = nil, nil
	return true
}

// Resume reopens a suspended log. It returns a *LockedError if the thread has another writer,
// and ErrChanged if the file has changed. After any other error it can be called again.
func (l *Log) Resume() error {
	if l.suspended == nil || l.closed {
		return nil
	}
	lock, err := l.store.Lock(l.id)
	if err != nil {
		return err
	}
	file, info, err := disk.Open(l.store.disk, l.path, os.O_RDWR|os.O_APPEND)
	if disk.IsNotExist(err) || err == nil && !disk.IsUnchanged(l.store.disk, l.suspended, info) {
		if file != nil {
			_ = file.Close()
		}
		err = disk.Wrap("append to", l.path, ErrChanged)
	}
	if err == nil {
		if err = l.lines.resume(l.store, file); err != nil {
			_ = file.Close()
		}
	}
	if err != nil {
		_ = lock.Release()
		return err
	}
	l.lock, l.tail.File, l.suspended = lock, file, nil
	return nil
}
