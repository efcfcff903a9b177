package rollout

import (
	"bytes"
	"fmt"
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
	l.SetIdle(false)
	var err error
	if l.appended && (p != nil || l.hasSelection) {
		if err = l.Resume(); err == nil {
			err = l.rewriteFile(p)
		}
	}
	return firstError(err, l.Close())
}

func (l *Log) rewriteFile(p Projection) error {
	if l.backupErr != nil {
		return fmt.Errorf("cannot rewrite %s: %w", l.path, l.backupErr)
	}
	if l.tail.validSize > maxSize {
		return diskError("rewrite", l.path, errTooLarge)
	}
	w, err := l.beginRewrite()
	if err != nil {
		return diskError("rewrite", l.path, err)
	}
	if err := w.backUp(); err != nil {
		return diskError("back up", l.path, err)
	}
	return diskError("rewrite", l.path, w.replace(p))
}

// rewriting is a rewrite under way.
type rewrite struct {
	*reading
	tempFile
	file File
	// backupPath is the path beside the rollout's.
	backupPath string
}

// beginRewrite makes everything durable and reads it again: from here on what counts
// is what the disk has.
func (l *Log) beginRewrite() (*rewrite, error) {
	if l.tail.torn {
		if err := l.tail.truncate(); err != nil {
			return nil, err
		}
	}
	if l.dirty {
		if err := l.syncAll(); err != nil {
			return nil, err
		}
	}
	r, err := l.store.read(l.path, l.tail.file)
	if err != nil {
		return nil, err
	}
	w := &rewrite{reading: r, tempFile: tempFile{l.store, l.path + temporarySuffix}, file: l.tail.file, backupPath: l.path + backupSuffix}
	return w, w.check()
}

// check refuses what could not be read back, or is not what the path leads to.
func (w *rewrite) check() error {
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
	case !sameThread(w.ThreadID, firstMeta(w.blocks)):
		return errForeign
	case w.size() > maxSize:
		return errTooLarge
	}
	return nil
}

func (w *rewrite) size() (n int64) {
	for _, part := range w.fullLog() {
		n += int64(len(part))
	}
	return n
}

// replace puts the rewritten file in the place of the old one.
func (w *rewrite) replace(p Projection) error {
	fill := func(out *paddedWriter) error { return w.project(out, p) }
	if p == nil {
		fill = w.writeFull
	}
	err := w.write(fill)
	if err == nil {
		err = w.unchanged()
	}
	return w.publish(err, w.Path)
}

// unchanged makes sure that the file is still as it was read. Programs that do not
// heed locks may write to it; what they write after this stays in the backup.
func (w *rewrite) unchanged() error {
	info, err := w.file.Stat()
	if err == nil && info.Size() != w.Size {
		err = errChanged
	}
	return err
}
