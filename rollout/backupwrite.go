package rollout

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"

	"appserver/platform/disk"
	"appserver/rollout/line"
)

// backUp makes the backup contain the full log, durably. At no moment does the backup contain
// less than before.
func (w *rewrite) backUp() error {
	if w.Backup.Joined {
		if err := w.extendBackup(); err != nil {
			return err
		}
		return w.store.disk.SyncDir(filepath.Dir(w.Path))
	}
	return w.hardLinkBackup()
}

// hardLinkBackup creates the backup of a complete file as a hard link to the file. It replaces
// an earlier state of the file. Any other backup is an error.
func (w *rewrite) hardLinkBackup() error {
	there, err := w.store.disk.Lstat(w.backupPath)
	if disk.IsNotExist(err) {
		return w.temp.Publish(w.temp.LinkOrCopy(w.Path, w.content), w.backupPath)
	}
	if err != nil {
		return err
	}
	own, err := w.file.Stat()
	if err != nil {
		return err
	}
	if w.store.disk.SameFile(there, own) {
		return w.store.disk.SyncDir(filepath.Dir(w.Path))
	}
	if err := w.store.checkEarlier(w.backupPath, w.file, w.Size); err != nil {
		return err
	}
	return w.temp.Publish(w.temp.LinkOrCopy(w.Path, w.content), w.backupPath)
}

func (w *rewrite) content() ([]byte, error) { return disk.ReadAll(w.file, w.Size) }

// extendBackup appends the lines that are newer than the backup. The checksum of the full log is known then.
func (w *rewrite) extendBackup() error {
	padding := w.padding()
	added := append(line.Padding(padding), make([]byte, w.own.to-w.own.from)...)
	if _, err := w.file.ReadAt(added[padding:], w.own.from); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	w.sum = line.UpdateChecksum(w.sum, added)
	file, info, err := disk.Open(w.store.disk, w.backupPath, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	tail := &disk.Appender{File: file, Size: w.first.to}
	if info.Size() > tail.Size {
		err = w.truncateLeftover(tail, info.Size()-tail.Size, added)
	}
	if err == nil {
		err = tail.Append(added, file.Sync)
	}
	return cmp.Or(err, file.Close())
}

// truncateLeftover truncates bytes left by an interrupted rewrite: a prefix of the bytes to
// append, and zeros that a crash may leave in place of content. Other bytes may be the only
// copy of a newer state, so they are an error.
func (w *rewrite) truncateLeftover(backup *disk.Appender, size int64, added []byte) error {
	ahead := &BackupError{Path: w.backupPath, Reason: backupAhead}
	if size > int64(len(added)) {
		return ahead
	}
	rest := make([]byte, size)
	if _, err := backup.File.ReadAt(rest, backup.Size); err != nil {
		return err
	}
	if !bytes.HasPrefix(added, bytes.TrimRight(rest, "\x00")) {
		return ahead
	}
	return backup.Truncate()
}
