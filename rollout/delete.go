package rollout

import (
	"cmp"
	"errors"
	"path/filepath"

	"appserver/platform/disk"
	"appserver/rollout/home"
)

// InUseError reports that the history of thread By depends on a rollout of thread ID. Forks of
// the reference implementation have such dependencies.
type InUseError struct{ ID, By string }

// Error begins with the message of the reference implementation.
func (e *InUseError) Error() string {
	return "cannot delete thread " + e.ID + ": forked history still references it: that of thread " + e.By
}

// CheckDelete returns the error with which Delete would refuse the thread, or nil. It changes
// nothing.
func (s *Store) CheckDelete(id string) error {
	if _, err := s.Find(id); err != nil {
		return err
	}
	by, err := s.Dependent(id)
	if by != "" {
		return &InUseError{id, by}
	}
	return err
}

// Delete removes all rollouts of a thread with their backups, including archived ones. It is
// durable and holds the writer lock. Backups are removed last, because a backup without a
// rollout is never read.
func (s *Store) Delete(id string) error {
	if err := s.CheckDelete(id); err != nil {
		return err
	}
	return s.Remove(id)
}

// Remove deletes a thread without a search for dependents. The caller must know that no other
// thread depends on this one.
func (s *Store) Remove(id string) error {
	if !home.IsThreadID(id) {
		return &home.NotFoundError{ID: id}
	}
	lock, err := s.Lock(id)
	if err != nil {
		return err
	}
	s.RemoveSnapshotCache(id)
	return cmp.Or(s.deleteAll(id), disk.Wrap("delete", id, lock.Release()))
}

// deleteAll deletes the files of a thread, the newest first. It returns a *NotFoundError if
// there are none, or the error of a folder that could not be read.
func (s *Store) deleteAll(id string) error {
	var unread error = &home.NotFoundError{ID: id}
	var gone []string
	for _, root := range home.Roots() {
		for name, err := range s.Walk(home.Walk{Root: root}) {
			switch {
			case err != nil:
				unread = err
			case home.ThreadID(name) == id:
				path := s.AbsPath(root, name)
				if err := s.deleteFile(path); err != nil {
					return disk.Wrap("delete", path, err)
				}
				gone = append(gone, path)
				if missing := new(home.NotFoundError); errors.As(unread, &missing) {
					unread = nil
				}
			}
		}
	}
	for _, path := range gone {
		if err := s.deleteMoveLeftovers(path); err != nil {
			return disk.Wrap("delete", path, err)
		}
	}
	return unread
}

// deleteMoveLeftovers removes files that an interrupted move left at the other path of a
// rollout.
func (s *Store) deleteMoveLeftovers(path string) error {
	former, err := s.FormerPath(path)
	if err != nil {
		return nil // the rollout cannot have been moved
	}
	for _, suffix := range []string{disk.TempSuffix, home.BackupSuffix} {
		if err := s.disk.Remove(former + suffix); err != nil && !disk.IsNotExist(err) {
			return err
		}
	}
	if err := s.disk.SyncDir(filepath.Dir(former)); !disk.IsNotExist(err) {
		return err
	}
	return nil
}

// deleteFile removes a rollout, its temporary file and its backup.
func (s *Store) deleteFile(path string) error {
	if err := s.disk.Remove(path + disk.TempSuffix); err != nil && !disk.IsNotExist(err) {
		return err
	}
	if err := s.disk.Remove(path); err != nil {
		return err
	}
	err := s.disk.SyncDir(filepath.Dir(path))
	if gone := s.disk.Remove(path + home.BackupSuffix); gone == nil {
		err = cmp.Or(err, s.disk.SyncDir(filepath.Dir(path)))
	} else if !disk.IsNotExist(gone) {
		err = cmp.Or(err, gone)
	}
	return err
}
