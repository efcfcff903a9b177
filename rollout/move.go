package rollout

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"appserver/platform/disk"
	"appserver/platform/osfile"
	"appserver/rollout/home"
)

// move moves a rollout and its backup to another folder. The backup gets its new name before
// the rollout does, and loses its old name after the rollout did. So at each moment every name
// of the rollout has a backup beside it.
type move struct {
	store *Store
	temp  disk.TempFile
	// op is a verb for error messages.
	op string
	id string
	// root is the root of the target path.
	root     string
	from, to string
}

// newMove returns the move of a rollout from one path to another, below root.
func (s *Store) newMove(op, root, from, to string) *move {
	return &move{
		store: s,
		temp:  disk.NewTempFile(s.disk, to),
		op:    op,
		id:    home.ThreadID(from),
		root:  root,
		from:  from,
		to:    to,
	}
}

// checkAndRun runs the move. The caller holds the writer lock.
func (m *move) checkAndRun() error {
	if err := m.check(); err != nil {
		return err
	}
	return m.run()
}

// run performs a move that was checked.
func (m *move) run() error {
	for _, step := range []func() error{m.createFolder, m.linkBackup, m.clearTarget, m.link, m.unlink} {
		if err := step(); err != nil {
			return disk.Wrap(m.op, m.from, err)
		}
	}
	m.removeOldBackup()
	return nil
}

// check returns an error if the source is not a regular file, or if its id exists in the root.
// The result of an interrupted move is accepted.
func (m *move) check() error {
	info, err := m.store.disk.Lstat(m.from)
	switch {
	case disk.IsNotExist(err):
		return &home.NotFoundError{ID: m.id}
	case err != nil:
		return disk.Wrap(m.op, m.from, err)
	case !info.Mode().IsRegular():
		return disk.Wrap(m.op, m.from, errMoved)
	}
	taken, err := m.store.FindFileIn(m.root, home.FileID(m.from))
	if taken == "" {
		return err
	}
	if taken == m.to {
		err = m.checkTarget(info)
	} else {
		err = fs.ErrExist
	}
	return disk.Wrap("move "+m.from+" to the place of", taken, err)
}

// checkTarget returns an error unless the target is an earlier state of this rollout.
func (m *move) checkTarget(own fs.FileInfo) error {
	there, err := m.store.disk.Lstat(m.to)
	if err != nil || m.store.disk.SameFile(there, own) {
		return err
	}
	now, err := m.read(m.from)
	if err != nil {
		return err
	}
	earlier, err := m.read(m.to)
	if err == nil && !bytes.HasPrefix(slices.Concat(now.fullLog()...), slices.Concat(earlier.fullLog()...)) {
		err = fs.ErrExist
	}
	return err
}

func (m *move) read(path string) (*reading, error) {
	file, _, err := disk.Open(m.store.disk, path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	r, err := m.store.read(path, file)
	if err == nil {
		err = r.problem
	}
	return r, cmp.Or(err, file.Close())
}

func (m *move) createFolder() error { return m.store.disk.MkdirAll(filepath.Dir(m.to), disk.DirMode) }

// linkBackup creates the backup at the target. It replaces the result of an interrupted move.
// Any other file is an error.
func (m *move) linkBackup() error {
	old, place := m.from+home.BackupSuffix, m.to+home.BackupSuffix
	own, err := m.store.disk.Lstat(old)
	if disk.IsNotExist(err) {
		return m.store.SyncEntries(m.to)
	}
	if err == nil {
		err = m.syncBackup(old)
	}
	if err != nil {
		return err
	}
	there, err := m.store.disk.Lstat(place)
	switch {
	case disk.IsNotExist(err):
	case err != nil:
		return err
	case m.store.disk.SameFile(own, there):
		return m.store.SyncEntries(m.to)
	default:
		if err := m.checkLeftover(place); err != nil {
			return err
		}
	}
	return cmp.Or(m.temp.Publish(m.copyBackup(own), place), m.store.SyncEntries(m.to))
}

// syncBackup makes the content of the backup durable, because another program may have written
// it.
func (m *move) syncBackup(path string) error {
	file, _, err := disk.Open(m.store.disk, path, osfile.ToSync)
	if err != nil {
		return err
	}
	return cmp.Or(file.Sync(), file.Close())
}

// copyBackup links or copies the backup to the temporary name. A symbolic link is copied,
// because its target may be relative.
func (m *move) copyBackup(info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return m.temp.LinkOrCopy(m.from+home.BackupSuffix, m.readBackup)
	}
	return m.temp.Copy(m.readBackup)
}

func (m *move) readBackup() ([]byte, error) {
	file, info, err := disk.Open(m.store.disk, m.from+home.BackupSuffix, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	data, err := disk.ReadContent(file, info)
	return data, cmp.Or(err, file.Close())
}

func (m *move) checkLeftover(path string) error {
	data, err := m.readBackup()
	if err != nil {
		return err
	}
	if m.store.compareEarlier(path, bytes.NewReader(data), int64(len(data))) != nil {
		return disk.Wrap("replace", path, fs.ErrExist)
	}
	return nil
}

// clearTarget removes an earlier state of the rollout.
func (m *move) clearTarget() error {
	there, err := m.store.disk.Lstat(m.to)
	if disk.IsNotExist(err) {
		return nil
	}
	own, ownErr := m.store.disk.Lstat(m.from)
	if err = cmp.Or(err, ownErr); err != nil || m.store.disk.SameFile(there, own) {
		return err
	}
	return m.store.disk.Remove(m.to)
}

// link creates a hard link at the target, which never overwrites a file. On a disk without
// hard links it renames the rollout.
func (m *move) link() error {
	files := m.store.disk
	err := files.Link(m.from, m.to)
	switch {
	case errors.Is(err, fs.ErrExist):
		err = nil // the target is this file
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, fs.ErrPermission):
		err = files.Rename(m.from, m.to)
	}
	if err != nil {
		return err
	}
	if err := files.SyncDir(filepath.Dir(m.to)); err != nil {
		m.undo()
		return err
	}
	return nil
}

// unlink removes the old name.
func (m *move) unlink() error {
	err := m.store.disk.Remove(m.from)
	if err == nil || disk.IsNotExist(err) {
		err = m.store.disk.SyncDir(filepath.Dir(m.from))
	}
	if err != nil {
		m.undo()
	}
	return err
}

// undo restores the old name and removes the new one. If that fails, the rollout stays at the
// target, possibly not durably.
func (m *move) undo() {
	files := m.store.disk
	err := files.Link(m.to, m.from)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = files.Rename(m.to, m.from)
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		_ = files.Remove(m.to) // two names of one file do no harm
	}
}

// removeOldBackup removes the old name of the backup. If it fails, the next move recognizes
// the file.
func (m *move) removeOldBackup() {
	if m.store.disk.Remove(m.from+home.BackupSuffix) == nil {
		_ = m.store.disk.SyncDir(filepath.Dir(m.from))
	}
}
