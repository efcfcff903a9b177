package shared

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"appserver/rollout"
	"appserver/rollout/fleet"
	"appserver/rollout/store"
)

// copies are the local copies of threads. Their names and format are those of rollouts.
type copies struct {
	driver fleet.Driver
	files  *rollout.Store
	// boot identifies the run of the kernel, or is empty.
	boot string
	mu   sync.Mutex
	// locks has a lock for each thread that was copied. written are the threads whose copy a journal of this
	// process keeps up to date.
	locks   map[string]*sync.Mutex
	written map[string]bool
}

func newCopies(o Options) *copies {
	if o.Disk == nil {
		o.Disk = rollout.OS()
	}
	files, boot := rollout.NewStore(o.Disk, o.Copies), bootID()
	// A crash of the kernel can lose parts of copies. So all lines are read once after it.
	files.SnapshotVersion, files.Volatile = o.SnapshotVersion+boot, true
	return &copies{driver: o.Driver, files: files, boot: boot, locks: map[string]*sync.Mutex{},
		written: map[string]bool{}}
}

// edition names the lines of a thread. A copy of another generation is stale.
type edition struct {
	id         string
	generation int64
	// confirmed is the number of lines that the database has confirmed.
	confirmed int64
}

// time returns the time in the name of the copy.
func (e edition) time() time.Time { return time.Unix(e.generation, 0).UTC() }

// path returns the path of a copy.
func (c *copies) path(e edition) string { return c.files.PathFor(e.id, e.time()) }

// lock locks the copy of a thread, and returns the function that unlocks it.
func (c *copies) lock(id string) (unlock func()) {
	c.mu.Lock()
	if c.locks[id] == nil {
		c.locks[id] = &sync.Mutex{}
	}
	m := c.locks[id]
	c.mu.Unlock()
	m.Lock()
	return m.Unlock
}

// remove removes a copy and its former generations. The caller holds the lock.
func (c *copies) remove(e edition) error {
	c.files.RemoveSnapshotCache(e.id)
	var failed error
	for ; e.generation >= 0; e.generation-- {
		if err := os.Remove(c.path(e)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// A copy that another process of this home writes is read again after copyPause, until copyWait has passed.
const (
	copyWait  = 5 * time.Second
	copyPause = 20 * time.Millisecond
)

// errIncomplete reports that a copy cannot be used yet.
var errIncomplete = errors.New("its copy is not complete, because another process of this home is writing it: try again")

// copyReader reads a copy. The closer closes what it has opened.
type copyReader func(path string) (*rollout.Contents, *rollout.LineReader, io.Closer, error)

// load appends the missing lines to a copy and reads it. A damaged copy is closed and fetched again. The
// caller does not hold the lock.
func (c *copies) load(ctx context.Context, e edition, read copyReader) error {
	ended := time.Now().Add(copyWait)
	for isRepeated := false; ; isRepeated = true {
		err := c.loadOnce(ctx, e, isRepeated, read)
		if !errors.Is(err, errIncomplete) {
			return err
		}
		select {
		case <-ctx.Done():
			return &store.UnavailableError{Err: err}
		case <-time.After(copyPause):
		}
		if time.Now().After(ended) {
			return &store.UnavailableError{Err: err}
		}
	}
}

// setWritten sets whether a journal of this process keeps a copy up to date.
func (c *copies) setWritten(id string, written bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if written {
		c.written[id] = true
	} else {
		delete(c.written, id)
	}
}

func (c *copies) isWritten(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written[id]
}

// loadOnce returns errIncomplete if the copy must be read again.
func (c *copies) loadOnce(ctx context.Context, e edition, isRepeated bool, read copyReader) error {
	defer c.lock(e.id)()
	isUpdated, err := c.update(ctx, e)
	if err != nil {
		return err
	}
	contents, lines, opened, err := read(c.path(e))
	var locked *rollout.LockedError
	switch {
	case errors.As(err, &locked), !isUpdated && errors.Is(err, fs.ErrNotExist):
		return errors.Join(errIncomplete, err)
	case err != nil, isUpdated && isRepeated:
		return err
	case len(contents.Damage) == 0 && !contents.Torn && int64(lines.Lines()) >= e.confirmed:
		return nil
	}
	if err := opened.Close(); err != nil {
		return err
	}
	if isUpdated {
		err = c.removeDamaged(e)
	}
	return cmp.Or(err, errIncomplete)
}

// removeDamaged removes a damaged copy, unless another process writes it.
func (c *copies) removeDamaged(e edition) error {
	lock, err := c.files.Lock(e.id)
	var locked *rollout.LockedError
	if errors.As(err, &locked) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(c.path(e)), lock.Release())
}

// update appends the lines that a copy lacks. It returns false if a journal of this process, or another process
// of this home, writes the copy: it keeps the copy up to date, but may not have done so yet. For this process,
// update does not wait for the lock of the file: an append waits for the caller.
func (c *copies) update(ctx context.Context, e edition) (isUpdated bool, err error) {
	if c.isWritten(e.id) {
		return false, nil
	}
	lock, err := c.files.Lock(e.id)
	var locked *rollout.LockedError
	if errors.As(err, &locked) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = lock.Release() }()
	return true, c.updateLocked(ctx, e)
}

func (c *copies) updateLocked(ctx context.Context, e edition) error {
	path := c.path(e)
	lines, last, err := copied(path, c.covered(e.id))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if lines > 0 {
		fresh, err := c.fetch(ctx, e, lines-1, last)
		if err != nil || fresh {
			return err
		}
	}
	if err := c.remove(e); err != nil {
		return err
	}
	_, err = c.fetch(ctx, e, 0, nil)
	return err
}

// fetch appends the lines from an ordinal on to a copy. The first one is not appended, but must equal
// last, unless that is nil. If it differs, or does not exist, fetch returns false.
func (c *copies) fetch(ctx context.Context, e edition, from int64, last []byte) (fresh bool, err error) {
	file, err := os.OpenFile(c.path(e), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return false, err
	}
	out, fresh := bytes.Buffer{}, last == nil
	var writeErr error
	flush := func() bool {
		_, writeErr = file.Write(out.Bytes())
		out.Reset()
		return writeErr == nil
	}
	next, err := c.driver.Read(ctx, e.id, from, func(ordinal int64, raw []byte) bool {
		if last != nil && ordinal == from {
			fresh = bytes.Equal(last, raw)
			return fresh
		}
		out.Write(raw)
		out.WriteByte('\n')
		return out.Len() < flushSize || flush()
	})
	if err == nil && out.Len() > 0 {
		flush()
	}
	if err == nil && fresh && writeErr == nil && next < e.confirmed {
		err = errFewerLines
	}
	return fresh, errors.Join(threadError(e.id, err), writeErr, file.Close())
}

// errFewerLines reports that a read shows less than a write has confirmed. Both use the primary.
var errFewerLines = errors.New("it has fewer lines of the thread than it has confirmed: " +
	"the URL (store.url_env) leads to two databases, or to a read replica; name one primary")

// flushSize is the size of a write to a copy, in bytes.
const flushSize = 1 << 20

// covered returns the lines that the snapshot of a copy covers. They need not be counted again unless the kernel has
// crashed, which can lose parts of the copy: another change shows in the last line or when the copy is read.
func (c *copies) covered(id string) rollout.Covered {
	if c.boot == "" {
		return rollout.Covered{}
	}
	return c.files.Covered(id)
}

// copied returns the number of lines of a copy, and its last line. It removes a torn line from the end. If the covered
// lines are still there, it counts only the lines behind them. If the number is wrong, the last line is not the one of
// the database: the caller compares the two. The copy is read in parts, because it can be larger than the memory.
func copied(path string, covered rollout.Covered) (lines int64, last []byte, err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var c lineCounter
	if endsLine(file, covered.Begin) && endsLine(file, covered.End) {
		c = lineCounter{covered.Lines, covered.Begin, covered.End, covered.End}
	}
	_, err = io.Copy(&c, io.NewSectionReader(file, c.end, math.MaxInt64-c.end))
	if err == nil && c.size > c.end {
		err = file.Truncate(c.end)
	}
	if err == nil && c.lines > 0 {
		last = make([]byte, c.end-1-c.begin)
		_, err = file.ReadAt(last, c.begin)
	}
	return c.lines, last, err
}

// endsLine reports whether a line ends before an offset. No line ends before 0, where the first one begins.
func endsLine(file io.ReaderAt, offset int64) bool {
	end := make([]byte, 1)
	_, err := file.ReadAt(end, offset-1)
	return offset == 0 || err == nil && end[0] == '\n'
}

// lineCounter counts lines. The last whole one is from begin to end, with its line feed. size is the number of bytes.
type lineCounter struct {
	lines, begin, end, size int64
}

// Write counts the lines that end in a part.
func (c *lineCounter) Write(part []byte) (int, error) {
	if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
		c.begin = c.end
		if j := bytes.LastIndexByte(part[:i], '\n'); j >= 0 {
			c.begin = c.size + int64(j) + 1
		}
		c.end = c.size + int64(i) + 1
		c.lines += int64(bytes.Count(part, []byte("\n")))
	}
	c.size += int64(len(part))
	return len(part), nil
}
