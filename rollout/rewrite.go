package rollout

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
)

// CloseRewritten is Close, except that it first rewrites the file to what the
// projection makes of its lines, with the full log in the backup. Without a projection
// it makes a file whole that was rewritten before. Nothing is rewritten where nothing
// was appended through this log, or where that would change nothing.
//
// An error that comes before the rewritten file took the other's place leaves the file
// as it was and the backup no less than it was; after it, both are as they should be,
// though maybe not durable. Where the backup is of no use the error is a *BackupError.
// The log is closed in any case.
func (l *Log) CloseRewritten(p Projection) error {
	if l.closed {
		return nil
	}
	var err error
	if l.appended && (p != nil || l.selection) {
		err = l.rewrite(p)
	}
	return first(err, l.Close())
}

func (l *Log) rewrite(p Projection) error {
	if l.refused != nil {
		return fmt.Errorf("cannot rewrite %s: %w", l.path, l.refused)
	}
	w, err := l.beginRewrite()
	if err != nil {
		return diskError("rewrite", l.path, err)
	}
	if err := w.secure(); err != nil {
		return diskError("back up", l.path, err)
	}
	return diskError("rewrite", l.path, w.replace(p))
}

// rewriting is a rewrite under way.
type rewriting struct {
	*reading
	store *Store
	file  File
	// backupPath and temporary are the paths beside the rollout's.
	backupPath, temporary string
}

// beginRewrite makes everything durable and reads it again: from here on what counts
// is what the disk has.
func (l *Log) beginRewrite() (*rewriting, error) {
	if l.tail.torn {
		if err := l.tail.cut(); err != nil {
			return nil, err
		}
	}
	if l.dirty {
		if err := l.commit(); err != nil {
			return nil, err
		}
	}
	r, err := l.store.read(l.path, l.tail.file)
	if err != nil {
		return nil, err
	}
	w := &rewriting{reading: r, store: l.store, file: l.tail.file,
		backupPath: l.path + backupSuffix, temporary: l.path + temporarySuffix}
	return w, w.check()
}

// check refuses what could not be read back, or is not what the path leads to.
func (w *rewriting) check() error {
	named, err := w.store.disk.Lstat(w.Path)
	if err != nil {
		return err
	}
	opened, err := w.file.Stat()
	switch {
	case err != nil:
		return err
	case !w.store.disk.SameFile(named, opened):
		return errMoved
	case w.Backup.Err != nil:
		return w.Backup.Err
	case !bytes.HasSuffix(w.data, []byte("\n")):
		return errChanged // every append ends with LF
	case !sameThread(w.ThreadID, firstMeta(w.runs)):
		return errForeign
	case w.size() > maxSize:
		return errTooLarge
	}
	return nil
}

// whole is the full log, in parts that follow each other.
func (w *rewriting) whole() [][]byte {
	if w.Backup.Joined {
		return [][]byte{w.backup, w.gap, w.tail}
	}
	return [][]byte{w.data}
}

func (w *rewriting) size() (n int64) {
	for _, part := range w.whole() {
		n += int64(len(part))
	}
	return n
}

// replace puts the rewritten file in the place of the old one.
func (w *rewriting) replace(p Projection) error {
	fill := func(out *placing) error { return w.project(out, p) }
	if p == nil {
		fill = w.restore
	}
	err := w.write(fill)
	if err == nil {
		err = w.unchanged()
	}
	return w.putInPlace(err, w.Path)
}

// putInPlace gives the temporary file another name, or removes it where an error says
// that it is no good.
func (w *rewriting) putInPlace(err error, path string) error {
	if err == nil {
		err = w.store.disk.Rename(w.temporary, path)
	}
	if err != nil {
		_ = w.store.disk.Remove(w.temporary) // the next rewrite tries again
		return err
	}
	return w.store.disk.SyncDir(filepath.Dir(path))
}

// unchanged makes sure that the file is still as it was read. Programs that do not
// heed locks may write to it; what they write after this stays in the backup.
func (w *rewriting) unchanged() error {
	info, err := w.file.Stat()
	if err == nil && info.Size() != w.Size {
		err = errChanged
	}
	return err
}

// write makes the temporary file, and makes its content durable. A leftover of an
// earlier one may be a second name of the rollout, so it is removed, never written to.
func (w *rewriting) write(fill func(*placing) error) error {
	if err := w.clear(); err != nil {
		return err
	}
	file, err := w.store.make(w.temporary)
	if err != nil {
		return err
	}
	counted := &counter{File: file}
	buffered := bufio.NewWriterSize(counted, writeSize)
	err = fill(&placing{out: buffered})
	for _, step := range []func() error{buffered.Flush, file.Sync, counted.verify} {
		if err == nil {
			err = step()
		}
	}
	return first(err, file.Close())
}

func (w *rewriting) clear() error {
	if err := w.store.disk.Remove(w.temporary); err != nil && !absent(err) {
		return err
	}
	return nil
}

// writeSize is what a rewrite hands to the system at once, in bytes.
const writeSize = 64 << 10

// counter counts what is written to a new file.
type counter struct {
	File
	size int64
}

// Write counts.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.File.Write(p)
	c.size += int64(n)
	return n, err
}

func (c *counter) verify() error {
	info, err := c.Stat()
	if err == nil && info.Size() != c.size {
		err = io.ErrShortWrite
	}
	return err
}
