package rollout

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// FinishMoves completes interrupted moves between sessions and the archive, for all threads
// without a writer.
//
// If the newest file of a thread is below sessions, the thread is not archived. Its archived
// files are then moved back. An archived file that is a second link, or an earlier state, of a
// file below sessions is removed. Any other archived file stays. The error joins all failures;
// the other threads are still processed.
func (s *Store) FinishMoves() error {
	archived := map[string][]string{} // by thread, newest first
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

// finishMove moves or removes an archived file. It returns fs.ErrExist if the file is not the
// result of a move.
func (s *Store) finishMove(path string) error {
	back, err := s.unarchiveMove(path)
	if err != nil {
		return err
	}
	info, err := s.disk.Lstat(back.to)
	if isNotExist(err) {
		return back.checkAndRun() // an older file of the thread
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

// removeArchived removes the archived copy after the remaining one is durable.
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
		_ = disk.Remove(backup) // not needed any more
	}
	return disk.SyncDir(filepath.Dir(m.to))
}
