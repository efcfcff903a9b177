package rollout

import (
	"cmp"
	"errors"
	"os"

	"appserver/platform/disk"
	"appserver/rollout/home"
)

// restore replaces an empty rollout by its backup, durably. It does nothing while the thread
// has another writer. The empty file has no content to lose.
func (s *Store) restore(path string) (restored bool, err error) {
	if !s.IsEmptied(path) || home.ThreadID(path) == "" {
		return false, nil
	}
	lock, err := s.Lock(home.ThreadID(path))
	if held := new(home.LockedError); errors.As(err, &held) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	restored, err = s.restoreLocked(path)
	return restored, cmp.Or(err, lock.Release())
}

// restoreLocked does the same as restore, for a caller that holds the writer lock.
func (s *Store) restoreLocked(path string) (restored bool, err error) {
	if !s.IsEmptied(path) {
		return false, nil
	}
	backup, info, err := disk.Open(s.disk, s.BackupPath(path), os.O_RDONLY)
	if err != nil {
		return false, err
	}
	content, err := disk.ReadContent(backup, info)
	if err = cmp.Or(err, backup.Close()); err != nil {
		return false, err
	}
	s.RemoveSnapshotCache(home.ThreadID(path))
	err = disk.Replace(s.disk, path, content)
	return err == nil, err
}
