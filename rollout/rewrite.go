package rollout

import (
	"bytes"
	"cmp"
	"fmt"
	"io"

	"appserver/rollout/disk"
	"appserver/rollout/home"
	"appserver/rollout/line"
)

// CloseRewritten rewrites the file by a projection and closes the log. The backup then has the
// full log. Without a projection it restores the full log in the file. Nothing is rewritten if
// this log appended nothing, or if the rewrite would change nothing.
//
// An error before the new file is in place leaves the file unchanged. The backup keeps at
// least its former content. After that, both are correct but possibly not durable. An unusable
// backup is a *BackupError. The log is closed in any case.
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
	return cmp.Or(err, l.Close())
}

func (l *Log) rewriteFile(p Projection) error {
	if l.backupErr != nil {
		return fmt.Errorf("cannot rewrite %s: %w", l.path, l.backupErr)
	}
	if l.tail.Size > disk.MaxSize {
		return disk.Wrap("rewrite", l.path, disk.ErrTooLarge)
	}
	w, err := l.beginRewrite()
	if err != nil {
		return disk.Wrap("rewrite", l.path, err)
	}
	if err := w.backUp(); err != nil {
		return disk.Wrap("back up", l.path, err)
	}
	return disk.Wrap("rewrite", l.path, w.replace(p))
}

// rewrite is the state of a rewrite.
type rewrite struct {
	*reading
	store *Store
	temp  disk.TempFile
	file  disk.File
	// backupPath is the path beside the rollout.
	backupPath string
}

// beginRewrite makes the log durable and reads it again. The rewrite depends on the content of
// the disk alone.
func (l *Log) beginRewrite() (*rewrite, error) {
	if l.tail.Torn {
		if err := l.tail.Truncate(); err != nil {
			return nil, err
		}
	}
	if l.dirty {
		if err := l.syncAll(); err != nil {
			return nil, err
		}
	}
	r, err := l.store.read(l.path, l.tail.File)
	if err != nil {
		return nil, err
	}
	w := &rewrite{
		reading:    r,
		store:      l.store,
		temp:       disk.NewTempFile(l.store.disk, l.path),
		file:       l.tail.File,
		backupPath: l.path + home.BackupSuffix,
	}
	return w, w.check()
}

// check returns an error if the file cannot be read back completely, or if the path leads to
// another file.
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
	case !sameThread(w.ThreadID, line.FirstMeta(w.blocks)):
		return errForeign
	case w.size() > disk.MaxSize:
		return disk.ErrTooLarge
	}
	return nil
}

func (w *rewrite) size() (n int64) {
	for _, part := range w.fullLog() {
		n += int64(len(part))
	}
	return n
}

// replace puts the rewritten file in place of the old one.
func (w *rewrite) replace(p Projection) error {
	fill := func(out *line.PaddedWriter) error { return w.project(out, p) }
	if p == nil {
		fill = w.writeFull
	}
	err := w.temp.Write(func(out io.Writer) error { return fill(line.NewPaddedWriter(out)) })
	if err == nil {
		err = w.unchanged()
	}
	return w.temp.Publish(err, w.Path)
}

// unchanged returns an error if the size of the file has changed. Programs that ignore locks
// may write to it. What they write after this check stays in the backup.
func (w *rewrite) unchanged() error {
	info, err := w.file.Stat()
	if err == nil && info.Size() != w.Size {
		err = errChanged
	}
	return err
}
