package rollout

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// FinishMoves ends moves between sessions and the archive whose writers were killed, of all
// threads that have no writer. A thread whose newest file is below sessions is not archived:
// what it has in the archive is brought back, or goes where it is a second name or an earlier
// state of what is below sessions. Any other file there stays. An error tells what could not be
// done; the rest is done all the same.
func (s *Store) FinishMoves() error {
	archived := map[string][]string{} // by thread, the newest first
	for name, err := range s.walk(walk{root: archivedDir}) {
		if id := threadID(name); err == nil {
			archived[id] = append(archived[id], name)
		}
	}
	if len(archived) == 0 {
		return nil
	}
	var errs []error
	for name, err := range s.walk(walk{root: sessionsDir}) {
		id := threadID(name)
		if names := archived[id]; err == nil && len(names) > 0 {
			delete(archived, id)
			if filepath.Base(names[0]) <= filepath.Base(name) {
				errs = append(errs, s.finishMoves(id, names))
			}
		}
	}
	return errors.Join(errs...)
}

func (s *Store) finishMoves(id string, names []string) error {
	lock, err := s.lock(id)
	if held := new(LockedError); errors.As(err, &held) {
		return nil // its writer may be moving it
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		path := s.absPath(archivedDir, name)
		if e := s.finishMove(path); !errors.Is(e, fs.ErrExist) {
			err = firstError(err, diskError("bring back", path, e))
		}
	}
	return firstError(err, diskError("unlock", id, lock.release()))
}

// finishMove takes a file out of the archive, unless it is none that a move has left there:
// then the error is fs.ErrExist.
func (s *Store) finishMove(path string) error {
	back, err := s.unarchiveMove(path)
	if err != nil {
		return err
	}
	info, err := s.disk.Lstat(back.to)
	if isNotExist(err) {
		return back.checkAndRun() // of a thread with several files
	}
	if err != nil {
		return err
	}
	m, err := s.archiveMove(back.to)
	if err == nil {
		err = m.checkTarget(info)
	}
	if err == nil {
		err = m.removeArchived()
	}
	return err
}

// takeBack takes away what there is where a move would lead, once what is to stay is durable.
func (m *move) removeArchived() error {
	disk, backup := m.store.disk, m.to+backupSuffix
	earlier := m.checkLeftover(backup) == nil
	err := m.store.syncEntries(m.from)
	if err == nil {
		err = disk.Remove(m.to)
	}
	if err != nil {
		return err
	}
	if earlier {
		_ = disk.Remove(backup) // nobody reads it any more
	}
	return disk.SyncDir(filepath.Dir(m.to))
}
