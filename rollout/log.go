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
	lines *LineReader
	// seed are the lines that the first append writes before its own.
	seed []protocol.RolloutLine
	// fresh is set where this log made the file, unplaced while that has a temporary name.
	created, unpublished bool
	// named is set once the folders' entries that lead to the file are durable.
	entriesSynced bool
	// dirty is set while lines wait for a sync.
	dirty bool
	// appended is set once lines were appended.
	appended bool
	// selection is set where the file was found to need a backup, refused where that
	// could not be joined.
	hasSelection bool
	backupErr    error
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
func (s *Store) OpenTo(path string, to Loader) (*Log, *Contents, error) {
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
func (l *Log) load(to Loader) (*Contents, error) {
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
	l.tail, l.lines = &appender{file: file}, &LineReader{}
	l.lines.addFile(file, l.path, false)
	r, err := l.store.load(l.path, l.lines, to)
	if err != nil {
		return nil, err
	}
	if r.misplacedBackup {
		if err := l.store.fetchBackup(l.path); err != nil {
			return nil, err
		}
	}
	l.tail.validSize, l.tail.unterminated = r.Size, r.unterminated
	r.Restored = restored
	l.hasSelection, l.backupErr = r.Backup != (Backup{}), r.Backup.Err
	return r.Contents, nil
}

// Text reads the log's lines again, in the order in which they were loaded and appended; nil
// where it cannot. It is the log's.
func (l *Log) LineReader() *LineReader { return l.lines }

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
		return diskError("begin", l.path, l.createFromSeed(lines))
	}
	encoded, err := encode(lines)
	if err != nil {
		return diskError("append to", l.path, err)
	}
	if err := l.createFile(); err != nil {
		return diskError("append to", l.path, err)
	}
	commit := l.publish
	if sync {
		commit = l.syncAll
	}
	if err := l.tail.append(encoded, commit); err != nil {
		return diskError("append to", l.path, err)
	}
	l.lines.addAppended(encoded, l.tail.validSize-int64(len(encoded)))
	l.dirty, l.appended = !sync, true
	return nil
}

func (l *Log) flush(sync bool) error {
	if !sync || l.tail == nil {
		return nil
	}
	return diskError("sync", l.path, l.syncAll())
}

// begin locks and makes the file of a new thread, under a temporary name: a file that has a
// rollout's name has a line. What of that has succeeded is not done again after an error.
func (l *Log) createFile() (err error) {
	if l.lock == nil {
		if l.lock, err = l.store.lock(l.id); err != nil {
			return err
		}
	}
	if l.tail == nil {
		file, err := tempFile{l.store, l.path + temporarySuffix}.create()
		if err != nil {
			return err
		}
		l.tail, l.created, l.unpublished, l.lines = &appender{file: file}, true, true, &LineReader{}
		l.lines.addFile(file, l.path, false)
	}
	return nil
}

// place gives a new file its name, unless another file has that.
func (l *Log) publish() error {
	if !l.unpublished {
		return nil
	}
	if _, err := l.store.disk.Lstat(l.path); err == nil {
		return fs.ErrExist
	} else if !isNotExist(err) {
		return err
	}
	if err := l.store.disk.Rename(l.path+temporarySuffix, l.path); err != nil {
		return err
	}
	l.unpublished = false
	return nil
}

func (l *Log) syncAll() error {
	if err := l.tail.file.Sync(); err != nil {
		return err
	}
	if err := l.publish(); err != nil {
		return err
	}
	if !l.entriesSynced {
		if err := l.store.syncEntries(l.path); err != nil {
			return err
		}
		l.entriesSynced = true
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
		err = firstError(err, l.lock.release())
	}
	return diskError("close", l.path, err)
}

// Discard is Close, except that it removes the file where this log has made it.
func (l *Log) Discard() error {
	l.SetIdle(false)
	l.discarded = true
	err := l.Resume()
	return firstError(err, l.Close())
}

func (l *Log) closeFile() error {
	if l.tail == nil {
		return nil
	}
	if l.suspended != nil {
		return nil
	}
	var err error
	if l.lines != nil {
		err = l.lines.Close()
	}
	if l.tail.torn {
		err = l.tail.truncate()
	}
	if l.dirty {
		err = firstError(err, l.syncAll())
	}
	err = firstError(err, l.tail.file.Close())
	if l.created && (l.discarded || l.unpublished || l.tail.validSize == 0) {
		err = firstError(err, l.remove())
	}
	return err
}

// remove also makes a name that was made durable go durably.
func (l *Log) remove() error {
	if l.unpublished {
		return l.store.disk.Remove(l.path + temporarySuffix)
	}
	err := l.store.disk.Remove(l.path)
	if err == nil && l.entriesSynced {
		err = l.store.disk.SyncDir(filepath.Dir(l.path))
	}
	return err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
