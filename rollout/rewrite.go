package rollout

import (
	"cmp"
	"fmt"
	"io"

	"appserver/platform/disk"
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
	defer w.close()
	if err := w.backUp(); err != nil {
		return disk.Wrap("back up", l.path, err)
	}
	return disk.Wrap("rewrite", l.path, w.replace(p))
}

// rewrite is the state of a rewrite.
type rewrite struct {
	*loading
	temp disk.TempFile
	file disk.File
	// backupPath is the path beside the rollout.
	backupPath string
	// own are the lines of the file that count. first is the part of the backup before them, or nil if the file is
	// complete.
	own   span
	first *span
	// sum is the checksum of the full log, as far as it is known.
	sum uint32
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
	lines := &LineReader{disk: l.store.disk}
	r, err := l.store.loadingOf(l.path, lines, lines.addFile(l.tail.File, l.path, false))
	if err != nil {
		return nil, err
	}
	w := &rewrite{
		loading:    r,
		temp:       disk.NewTempFile(l.store.disk, l.path),
		file:       l.tail.File,
		backupPath: l.path + home.BackupSuffix,
	}
	if err = w.findParts(); err == nil {
		err = w.check()
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// findParts finds the parts of the full log.
func (w *rewrite) findParts() (err error) {
	if w.marker, err = w.store.chunks.LastMarker(w.file, w.Size); err != nil {
		return disk.Wrap("read", w.Path, err)
	}
	backup := w.openBackup()
	w.own, w.first = w.join(w.marker, backup)
	switch {
	case w.Backup == (Backup{}):
		w.Backup = w.checkNoBackup(backup.path)
	case w.first != nil:
		named, _ := w.marker.Decode() // join has decoded it
		w.sum = named.CRC32C
	}
	return nil
}

// close closes the backup.
func (w *rewrite) close() { _ = w.lines.Close() }

// check returns an error if the file cannot be read back completely, or if the path leads to
// another file.
func (w *rewrite) check() error {
	if err := isNamed(w.store.disk, w.Path, w.file); err != nil {
		return err
	}
	if w.Backup.Err != nil {
		return w.Backup.Err
	}
	first := w.own
	if w.first != nil {
		first = *w.first
	}
	switch terminated, err := endsWithLF(w.file, w.Size); {
	case err != nil:
		return err
	case !terminated:
		return errChanged // every append ends with LF
	case !sameThread(w.ThreadID, metaIn(w.store.chunks, w.lines.files[first.file], first.to)):
		return errForeign
	case w.size() > disk.MaxSize:
		return disk.ErrTooLarge
	}
	return nil
}

// padding returns the number of spaces between the backup and the lines of the file.
func (w *rewrite) padding() int64 {
	if w.first == nil {
		return 0
	}
	return max(0, w.own.from-w.first.to)
}

// size returns the size of the full log.
func (w *rewrite) size() int64 {
	size := w.own.to - w.own.from + w.padding()
	if w.first != nil {
		size += w.first.to
	}
	return size
}

// replace replaces the old file by the rewritten one.
func (w *rewrite) replace(p Projection) error {
	fill := func(out *line.PaddedWriter) error { return w.project(out, p) }
	if p == nil {
		fill = w.writeFull
	}
	err := w.temp.Write(func(out io.Writer) error { return fill(line.NewPaddedWriter(out)) })
	if err == nil {
		err = unchanged(w.file, w.Size)
	}
	return w.temp.Publish(err, w.Path)
}

// unchanged returns an error if the size of a file has changed. Programs that ignore locks
// may write to it. What they write after this check stays in the backup.
func unchanged(file disk.File, size int64) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	length, err := disk.Length(file, info)
	if err == nil && length != size {
		err = errChanged
	}
	return err
}
