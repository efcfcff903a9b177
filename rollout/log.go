package rollout

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"appserver/protocol"
)

// Log is a thread's rollout, open for appending. It belongs to one goroutine.
type Log struct {
	store *Store
	path  string
	id    string
	// lock and tail are nil until the first append of a new thread.
	lock *writerLock
	tail *appender
	// text reads the lines again that were there when it was opened, and those that were
	// appended; nil where it has not all.
	text *Text
	// seed are the lines that the first append writes before its own.
	seed []protocol.RolloutLine
	// fresh is set where this log made the file, unplaced while that has a temporary name.
	fresh, unplaced bool
	// named is set once the folders' entries that lead to the file are durable.
	named bool
	// dirty is set while lines wait for a sync.
	dirty bool
	// appended is set once lines were appended.
	appended bool
	// selection is set where the file was found to need a backup, refused where that
	// could not be joined.
	selection bool
	refused   error
	// idle is set while the store may suspend the log, suspended while it has: it is what the
	// file was then.
	idle      bool
	suspended fs.FileInfo
	closed    bool
	discarded bool
}

// Create begins the log of a new thread. Nothing touches the disk before the first
// append, which also takes the lock and so may fail with a *LockedError.
func (s *Store) Create(id string, at time.Time) (*Log, error) {
	if !isThreadID(id) {
		return nil, &NameError{id}
	}
	return &Log{store: s, id: id, path: s.PathFor(id, at)}, nil
}

// Open takes the thread's lock and reads its rollout, so that it can be appended to.
// The path need not lie below home, but its name must carry the thread's id
// (*NameError). Another writer makes it fail with a *LockedError.
func (s *Store) Open(path string) (*Log, *Contents, error) {
	lines := []protocol.RolloutLine{}
	log, contents, err := s.OpenTo(path, collecting{&lines})
	if err == nil {
		contents.Lines = lines
	}
	return log, contents, err
}

// OpenTo is Open for a reader as that of Load. The log keeps the Text open.
func (s *Store) OpenTo(path string, to Reader) (*Log, *Contents, error) {
	id := threadID(path)
	if id == "" {
		return nil, nil, &NameError{path}
	}
	l := &Log{store: s, id: id, path: path}
	contents, err := l.load(to)
	if err != nil {
		_ = l.Close()
		return nil, nil, err
	}
	return l, contents, nil
}

// load opens and reads under the lock what the lock protects: a file that was opened
// before could have been rewritten since, and be its own backup now.
func (l *Log) load(to Reader) (*Contents, error) {
	lock, err := l.store.lock(l.id)
	if err != nil {
		return nil, err
	}
	l.lock = lock
	restored, err := l.store.restoreLocked(l.path)
	if err != nil {
		return nil, diskError("restore", l.path, err)
	}
	file, _, err := l.store.open(l.path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	l.tail, l.text = &appender{file: file}, &Text{}
	l.text.add(file, l.path, false)
	r, err := l.store.load(l.path, l.text, to)
	if err != nil {
		return nil, err
	}
	if r.astray {
		if err := l.store.bringBackup(l.path); err != nil {
			return nil, err
		}
	}
	l.tail.good, l.tail.open = r.Size, r.open
	r.Restored = restored
	l.selection, l.refused = r.Backup != (Backup{}), r.Backup.Err
	return r.Contents, nil
}

// Text reads the log's lines again, in the order in which they were loaded and appended; nil
// where it cannot. It is the log's.
func (l *Log) Text() *Text { return l.text }

// Path is the rollout's, whether it exists yet or not.
func (l *Log) Path() string { return l.path }

// Append writes lines, whose payloads must be JSON, after those that are there: all
// of them, or none and an error that tells what may help. With sync they are durable
// when it returns nil; without lines, it makes durable those of earlier calls. After
// an error it can be called again.
func (l *Log) Append(lines []protocol.RolloutLine, sync bool) error {
	if l.closed {
		return diskError("append to", l.path, errClosed)
	}
	if err := l.Resume(); err != nil {
		return err
	}
	switch {
	case len(lines) == 0:
		return l.flush(sync)
	case l.seed != nil:
		return diskError("begin", l.path, l.plant(lines))
	}
	encoded, err := encode(lines)
	if err != nil {
		return diskError("append to", l.path, err)
	}
	if err := l.begin(); err != nil {
		return diskError("append to", l.path, err)
	}
	commit := l.place
	if sync {
		commit = l.commit
	}
	if err := l.tail.append(encoded, commit); err != nil {
		return diskError("append to", l.path, err)
	}
	l.text.follow(encoded, l.tail.good-int64(len(encoded)))
	l.dirty, l.appended = !sync, true
	return nil
}

func (l *Log) flush(sync bool) error {
	if !sync || l.tail == nil {
		return nil
	}
	return diskError("sync", l.path, l.commit())
}

// begin locks and makes the file of a new thread, under a temporary name: a file that has a
// rollout's name has a line. What of that has succeeded is not done again after an error.
func (l *Log) begin() (err error) {
	if l.lock == nil {
		if l.lock, err = l.store.lock(l.id); err != nil {
			return err
		}
	}
	if l.tail == nil {
		file, err := substitute{l.store, l.path + temporarySuffix}.make()
		if err != nil {
			return err
		}
		l.tail, l.fresh, l.unplaced, l.text = &appender{file: file}, true, true, &Text{}
		l.text.add(file, l.path, false)
	}
	return nil
}

// place gives a new file its name, unless another file has that.
func (l *Log) place() error {
	if !l.unplaced {
		return nil
	}
	if _, err := l.store.disk.Lstat(l.path); err == nil {
		return fs.ErrExist
	} else if !absent(err) {
		return err
	}
	if err := l.store.disk.Rename(l.path+temporarySuffix, l.path); err != nil {
		return err
	}
	l.unplaced = false
	return nil
}

func (l *Log) commit() error {
	if err := l.tail.file.Sync(); err != nil {
		return err
	}
	if err := l.place(); err != nil {
		return err
	}
	if !l.named {
		if err := l.store.syncEntries(l.path); err != nil {
			return err
		}
		l.named = true
	}
	l.dirty = false
	return nil
}

// Close makes everything durable, releases the lock, and returns the first error. The
// file of a new thread to which nothing could be appended is removed. Further calls
// return nil.
func (l *Log) Close() error {
	if l.closed {
		return nil
	}
	l.SetIdle(false)
	l.closed = true
	err := l.closeFile()
	if l.lock != nil {
		err = first(err, l.lock.release())
	}
	return diskError("close", l.path, err)
}

// Discard is Close, except that it removes the file where this log has made it.
func (l *Log) Discard() error {
	l.SetIdle(false)
	l.discarded = true
	err := l.Resume()
	return first(err, l.Close())
}

func (l *Log) closeFile() error {
	if l.tail == nil {
		return nil
	}
	if l.suspended != nil {
		return nil
	}
	var err error
	if l.text != nil {
		err = l.text.Close()
	}
	if l.tail.torn {
		err = l.tail.cut()
	}
	if l.dirty {
		err = first(err, l.commit())
	}
	err = first(err, l.tail.file.Close())
	if l.fresh && (l.discarded || l.unplaced || l.tail.good == 0) {
		err = first(err, l.remove())
	}
	return err
}

// remove also makes a name that was made durable go durably.
func (l *Log) remove() error {
	if l.unplaced {
		return l.store.disk.Remove(l.path + temporarySuffix)
	}
	err := l.store.disk.Remove(l.path)
	if err == nil && l.named {
		err = l.store.disk.SyncDir(filepath.Dir(l.path))
	}
	return err
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
