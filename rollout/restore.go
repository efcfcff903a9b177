package rollout

import (
	"errors"
	"io/fs"
	"os"
)

// openFilled opens a rollout, or its backup if the rollout is empty.
func (s *Store) openFilled(path string) (File, fs.FileInfo, error) {
	file, info, err := s.open(path, os.O_RDONLY)
	if err != nil || info.Size() > 0 {
		return file, info, err
	}
	backup, backupInfo, err := s.open(s.backupPath(path), os.O_RDONLY)
	if err != nil {
		return file, info, nil
	}
	return backup, backupInfo, file.Close()
}

// isEmptied reports whether a rollout is empty and its backup is not.
func (s *Store) isEmptied(path string) bool {
	info, err := s.disk.Stat(path)
	if err != nil || info.Size() > 0 || !info.Mode().IsRegular() {
		return false
	}
	info, err = s.disk.Stat(s.backupPath(path))
	return err == nil && info.Size() > 0
}

// restore replaces an empty rollout by its backup, durably. It does nothing while the thread
// has another writer. The empty file has no content to lose.
func (s *Store) restore(path string) (restored bool, err error) {
	if !s.isEmptied(path) || threadID(path) == "" {
		return false, nil
	}
	lock, err := s.lock(threadID(path))
	if held := new(LockedError); errors.As(err, &held) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	restored, err = s.restoreLocked(path)
	return restored, firstError(err, lock.release())
}

// restoreLocked is restore for a caller that holds the writer lock.
func (s *Store) restoreLocked(path string) (restored bool, err error) {
	if !s.isEmptied(path) {
		return false, nil
	}
	backup, info, err := s.open(s.backupPath(path), os.O_RDONLY)
	if err != nil {
		return false, err
	}
	content, err := readAll(backup, info.Size())
	if err = firstError(err, backup.Close()); err != nil {
		return false, err
	}
	s.removeSnapshotCache(threadID(path))
	err = s.replace(path, content)
	return err == nil, err
}
