package rollout

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// move takes a rollout and its backup from one folder to another. The backup has its new
// name before the rollout does, and its old one until the rollout has lost that, so that
// at each moment there is one beside every name of the rollout.
type move struct {
	tempFile
	// op is a verb for errors.
	op string
	id string
	// root is where to lies.
	root     string
	from, to string
}

// locked moves. The caller is the thread's one writer.
func (m *move) checkAndRun() error {
	if err := m.check(); err != nil {
		return err
	}
	return m.run()
}

// carryOut moves what was checked.
func (m *move) run() error {
	for _, step := range []func() error{m.createFolder, m.linkBackup, m.clearTarget, m.link, m.unlink} {
		if err := step(); err != nil {
			return diskError(m.op, m.from, err)
		}
	}
	m.removeOldBackup()
	return nil
}

// check refuses what is no file, and a place that is taken: by a file of this one's
// id, under whatever name, unless that is the trace of a move that broke off.
func (m *move) check() error {
	info, err := m.store.disk.Lstat(m.from)
	switch {
	case isNotExist(err):
		return &NotFoundError{m.id}
	case err != nil:
		return diskError(m.op, m.from, err)
	case !info.Mode().IsRegular():
		return diskError(m.op, m.from, errMoved)
	}
	taken, err := m.store.findBelow(m.root, fileID, fileID(m.from))
	if taken == "" {
		return err
	}
	if taken == m.to {
		err = m.checkTarget(info)
	} else {
		err = fs.ErrExist
	}
	return diskError("move "+m.from+" to the place of", taken, err)
}

// checkPlace looks at what has the new name: what a move that broke off left of this
// thread may give way.
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
	file, _, err := m.store.open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	r, err := m.store.read(path, file)
	return r, firstError(err, file.Close())
}

func (m *move) createFolder() error { return m.store.disk.MkdirAll(filepath.Dir(m.to), dirMode) }

// carryBackup puts the backup where the rollout will be. What an earlier move left there
// gives way; anything else stays, and nothing is moved.
func (m *move) linkBackup() error {
	old, place := m.from+backupSuffix, m.to+backupSuffix
	own, err := m.store.disk.Lstat(old)
	if isNotExist(err) {
		return m.store.syncEntries(m.to)
	}
	if err == nil {
		err = m.syncBackup(old)
	}
	if err != nil {
		return err
	}
	there, err := m.store.disk.Lstat(place)
	switch {
	case isNotExist(err):
	case err != nil:
		return err
	case m.store.disk.SameFile(own, there):
		return m.store.syncEntries(m.to)
	default:
		if err := m.checkLeftover(place); err != nil {
			return err
		}
	}
	return firstError(m.publish(m.copyBackup(own), place), m.store.syncEntries(m.to))
}

// syncBackup makes the content durable, whoever wrote it.
func (m *move) syncBackup(path string) error {
	file, _, err := m.store.open(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	return firstError(file.Sync(), file.Close())
}

// copyBackup gives the backup the temporary name. Of a link it makes a file, since a link
// may lead elsewhere from another folder.
func (m *move) copyBackup(info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return m.linkOrCopy(m.from+backupSuffix, m.readBackup)
	}
	return m.copy(m.readBackup)
}

func (m *move) readBackup() ([]byte, error) {
	file, info, err := m.store.open(m.from+backupSuffix, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	data, err := readAll(file, info.Size())
	return data, firstError(err, file.Close())
}

func (m *move) checkLeftover(path string) error {
	data, err := m.readBackup()
	if err != nil {
		return err
	}
	if m.store.compareEarlier(path, data) != nil {
		return diskError("replace", path, fs.ErrExist)
	}
	return nil
}

// clearPlace takes away an earlier state of the rollout.
func (m *move) clearTarget() error {
	there, err := m.store.disk.Lstat(m.to)
	if isNotExist(err) {
		return nil
	}
	own, ownErr := m.store.disk.Lstat(m.from)
	if err = firstError(err, ownErr); err != nil || m.store.disk.SameFile(there, own) {
		return err
	}
	return m.store.disk.Remove(m.to)
}

// link gives the rollout its new name beside the old one, which never takes that of
// another file; where there are no links it takes the old one away at once.
func (m *move) link() error {
	disk := m.store.disk
	err := disk.Link(m.from, m.to)
	switch {
	case errors.Is(err, fs.ErrExist):
		err = nil // it is this file
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, fs.ErrPermission):
		err = disk.Rename(m.from, m.to)
	}
	if err != nil {
		return err
	}
	if err := disk.SyncDir(filepath.Dir(m.to)); err != nil {
		m.undo()
		return err
	}
	return nil
}

// unlink takes the old name away.
func (m *move) unlink() error {
	err := m.store.disk.Remove(m.from)
	if err == nil || isNotExist(err) {
		err = m.store.disk.SyncDir(filepath.Dir(m.from))
	}
	if err != nil {
		m.undo()
	}
	return err
}

// back gives the rollout its old name again, and takes the new one away. Where the disk
// allows that no more, the rollout is where it should be, though maybe not durably.
func (m *move) undo() {
	disk := m.store.disk
	err := disk.Link(m.to, m.from)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = disk.Rename(m.to, m.from)
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		_ = disk.Remove(m.to) // both names of one file do no harm
	}
}

// dropBackup takes away the backup's old name, which nobody reads any more. The next move
// knows what stays.
func (m *move) removeOldBackup() {
	if m.store.disk.Remove(m.from+backupSuffix) == nil {
		_ = m.store.disk.SyncDir(filepath.Dir(m.from))
	}
}
