package rollout

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
)

// secure makes the backup hold the full log, durably, and never less than before.
func (w *rewrite) backUp() error {
	if w.Backup.Joined {
		if err := w.extendBackup(); err != nil {
			return err
		}
		return w.store.disk.SyncDir(filepath.Dir(w.Path))
	}
	return w.hardLinkBackup()
}

// twin gives a file that is whole a second name, the backup's, unless it has that. An
// earlier state of it may have that name; anything else keeps it.
func (w *rewrite) hardLinkBackup() error {
	there, err := w.store.disk.Lstat(w.backupPath)
	if isNotExist(err) {
		return w.publish(w.linkOrCopy(w.Path, w.content), w.backupPath)
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
	if err := w.store.checkEarlier(w.backupPath, w.data); err != nil {
		return err
	}
	return w.publish(w.linkOrCopy(w.Path, w.content), w.backupPath)
}

func (w *rewrite) content() ([]byte, error) { return w.data, nil }

// extend appends to a backup that was joined what came after it.
func (w *rewrite) extendBackup() error {
	file, info, err := w.store.open(w.backupPath, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	tail := &appender{file: file, validSize: int64(len(w.backup))}
	added := w.tail
	if w.padding != nil {
		added = slices.Concat(w.padding, w.tail)
	}
	if info.Size() > tail.validSize {
		err = w.truncateLeftover(tail, info.Size()-tail.validSize, added)
	}
	if err == nil {
		err = tail.append(added, file.Sync)
	}
	return firstError(err, file.Close())
}

// cutRest takes off what an extend left behind that was not followed by its rewrite:
// the begin of what is about to be appended, and zeros where a crash kept the file's
// length and not its content. Anything else may be all that is left of a newer state
// of the thread, and is no leftover.
func (w *rewrite) truncateLeftover(backup *appender, size int64, added []byte) error {
	ahead := &BackupError{Path: w.backupPath, Reason: backupAhead}
	if size > int64(len(added)) {
		return ahead
	}
	rest := make([]byte, size)
	if _, err := backup.file.ReadAt(rest, backup.validSize); err != nil {
		return err
	}
	if !bytes.HasPrefix(added, bytes.TrimRight(rest, "\x00")) {
		return ahead
	}
	return backup.truncate()
}
