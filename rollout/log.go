package rollout

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout/home"
	"appserver/rollout/line"
	"appserver/rollout/zst"
)

// Log is a thread's rollout, open for appending. It belongs to one goroutine.
type Log struct {
	store *Store
	path  string
	id    string
	// lock and tail are nil before the first append of a new thread.
	lock *home.WriterLock
	tail *disk.Appender
	// lines reads loaded and appended lines again. It is nil if the log does not know all of
	// them.
	lines *LineReader
	// seed holds lines of another thread. The first append writes them before its own.
	seed *Seed
	// created is set if this log created the file. unpublished is set while the file has a
	// temporary name.
	created, unpublished bool
	// entriesSynced is set after the directory entries of the file were synced.
	entriesSynced bool
	// dirty is set while lines are not synced, unless the store is volatile.
	dirty bool
	// appended is set after lines were appended.
	appended bool
	// hasSelection is set if the file needs a backup. backupErr is the error if that could not
	// be joined.
	hasSelection bool
	backupErr    error
	// idle is set while the store may suspend the log. suspended describes the file at the
	// suspension, or is nil.
	idle      bool
	suspended fs.FileInfo
	closed    bool
	discarded bool
}

// Create returns the log of a new thread. The disk is not accessed before the first append,
// which takes the lock and may return a *LockedError.
func (s *Store) Create(id string, at time.Time) (*Log, error) {
	if !home.IsThreadID(id) {
		return nil, &home.NameError{Name: id}
	}
	return &Log{store: s, id: id, path: s.PathFor(id, at)}, nil
}

// Open acquires the writer lock of a thread and reads its rollout. The path may be outside of
// home. A name without the thread id is a *NameError. If the thread has another writer, the
// error is a *LockedError.
func (s *Store) Open(path string) (*Log, *Contents, error) {
	lines := LineList{}
	log, contents, err := s.OpenTo(path, &lines)
	if err == nil {
		contents.Lines = lines
	}
	return log, contents, err
}

// OpenTo does the same as Open, with a Loader. The log closes the LineReader.
func (s *Store) OpenTo(path string, to Loader) (*Log, *Contents, error) {
	path = zst.Plain(path)
	id := home.ThreadID(path)
	if id == "" {
		return nil, nil, &home.NameError{Name: path}
	}
	l := &Log{store: s, id: id, path: path}
	contents, err := l.load(to)
	if err != nil {
		_ = l.Close()
		return nil, nil, err
	}
	return l, contents, nil
}

// load opens the file under the lock. A file that was opened before the lock could have been
// rewritten meanwhile, and would then be the backup.
func (l *Log) load(to Loader) (*Contents, error) {
	lock, err := l.store.Lock(l.id)
	if err != nil {
		return nil, err
	}
	l.lock = lock
	restored, err := l.store.restoreLocked(l.path)
	if err != nil {
		return nil, disk.Wrap("restore", l.path, err)
	}
	problem, err := l.store.disk.Expand(l.path)
	if err != nil {
		return nil, err
	}
	file, _, err := disk.Open(l.store.disk, l.path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	l.tail, l.lines = &disk.Appender{File: file}, &LineReader{disk: l.store.disk}
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
	if err := r.addProblem(file, problem); err != nil {
		return nil, disk.Wrap("read", l.path, err)
	}
	l.tail.Size, l.tail.Unterminated = r.Size, r.unterminated
	r.Restored = restored
	l.hasSelection, l.backupErr = r.Backup != (Backup{}), r.Backup.Err
	return r.Contents, nil
}

// LineReader reads the lines of the log again, in the order in which they were loaded or
// appended. It is nil if the log cannot. The log closes it.
func (l *Log) LineReader() *LineReader { return l.lines }

// Path returns the path of the rollout, even if it does not exist yet.
func (l *Log) Path() string { return l.path }

// Append appends lines, all or none. Payloads must be JSON. With sync, the lines are durable
// when it returns nil. With sync and without lines, it makes earlier lines durable. After an
// error it can be called again.
func (l *Log) Append(lines []protocol.RolloutLine, sync bool) error {
	if l.closed {
		return disk.Wrap("append to", l.path, errClosed)
	}
	if err := l.Resume(); err != nil {
		return err
	}
	switch {
	case len(lines) == 0:
		return l.flush(sync)
	case l.seed != nil:
		return disk.Wrap("begin", l.path, l.createFromSeed(lines))
	}
	encoded, err := line.Encode(lines)
	if err != nil {
		return disk.Wrap("append to", l.path, err)
	}
	if err := l.createFile(); err != nil {
		return disk.Wrap("append to", l.path, err)
	}
	commit := l.publish
	if sync {
		commit = l.syncAll
	}
	if err := l.tail.Append(encoded, commit); err != nil {
		return disk.Wrap("append to", l.path, err)
	}
	l.lines.addAppended(encoded, l.tail.Size-int64(len(encoded)))
	l.dirty, l.appended = !sync && !l.store.Volatile, true
	return nil
}

func (l *Log) flush(sync bool) error {
	if !sync || l.tail == nil {
		return nil
	}
	return disk.Wrap("sync", l.path, l.syncAll())
}

// createFile acquires the lock and creates the file of a new thread, under a temporary name. So
// no rollout is ever without a line. After an error, a second call repeats only what failed.
func (l *Log) createFile() (err error) {
	if l.lock == nil {
		if l.lock, err = l.store.Lock(l.id); err != nil {
			return err
		}
	}
	if l.tail == nil {
		file, err := disk.NewTempFile(l.store.disk, l.path).Create()
		if err != nil {
			return err
		}
		l.tail, l.created, l.unpublished, l.lines = &disk.Appender{File: file}, true, true, &LineReader{disk: l.store.disk}
		l.lines.addFile(file, l.path, false)
	}
	return nil
}

// publish renames a new file to its final name. An existing file there is an error.
func (l *Log) publish() error {
	if !l.unpublished {
		return nil
	}
	if _, err := l.store.disk.Lstat(l.path); err == nil {
		return fs.ErrExist
	} else if !disk.IsNotExist(err) {
		return err
	}
	if err := l.store.disk.Rename(l.path+disk.TempSuffix, l.path); err != nil {
		return err
	}
	l.unpublished = false
	return nil
}

func (l *Log) syncAll() error {
	if err := l.tail.File.Sync(); err != nil {
		return err
	}
	if err := l.publish(); err != nil {
		return err
	}
	if !l.entriesSynced {
		if err := l.store.SyncEntries(l.path); err != nil {
			return err
		}
		l.entriesSynced = true
	}
	l.dirty = false
	return nil
}

// Close syncs the file, releases the lock and returns the first error. It removes the file of
// a new thread without lines. Further calls return nil.
func (l *Log) Close() error {
	if l.closed {
		return nil
	}
	l.SetIdle(false)
	l.closed = true
	err := l.closeFile()
	if l.lock != nil {
		err = cmp.Or(err, l.lock.Release())
	}
	return disk.Wrap("close", l.path, err)
}

// Discard closes the log. It removes the file if this log created it.
func (l *Log) Discard() error {
	l.SetIdle(false)
	l.discarded = true
	err := l.Resume()
	return cmp.Or(err, l.Close())
}

func (l *Log) closeFile() error {
	if l.tail == nil || l.suspended != nil {
		return nil
	}
	var err error
	if l.lines != nil {
		err = l.lines.Close()
	}
	if l.tail.Torn {
		err = cmp.Or(err, l.tail.Truncate())
	}
	if l.dirty {
		err = cmp.Or(err, l.syncAll())
	}
	err = cmp.Or(err, l.tail.File.Close())
	if l.created && (l.discarded || l.unpublished || l.tail.Size == 0) {
		err = cmp.Or(err, l.remove())
	}
	return err
}

// remove removes the file, durably if its name was durable.
func (l *Log) remove() error {
	if l.unpublished {
		return l.store.disk.Remove(l.path + disk.TempSuffix)
	}
	err := l.store.disk.Remove(l.path)
	if err == nil && l.entriesSynced {
		err = l.store.disk.SyncDir(filepath.Dir(l.path))
	}
	return err
}
