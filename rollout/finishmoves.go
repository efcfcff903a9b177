package rollout

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"

	"appserver/platform/disk"
	"appserver/rollout/home"
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
	for name, err := range s.Walk(home.Walk{Root: home.Archived}) {
		if id := home.ThreadID(name); err == nil {
			archived[id] = append(archived[id], name)
		}
	}
	if len(archived) == 0 {
		return nil
	}
	var errs []error
	for name, err := range s.Walk(home.Walk{Root: home.Sessions}) {
		id := home.ThreadID(name)
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
	lock, err := s.Lock(id)
	if held := new(home.LockedError); errors.As(err, &held) {
		return nil // its writer may be moving it
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		path := s.AbsPath(home.Archived, name)
		if e := s.finishMove(path); !errors.Is(e, fs.ErrExist) {
			err = cmp.Or(err, disk.Wrap("bring back", path, e))
		}
	}
	return cmp.Or(err, disk.Wrap("unlock", id, lock.Release()))
}

// finishMove moves or removes an archived file. It returns fs.ErrExist if the file is not the
// result of a move.
func (s *Store) finishMove(path string) error {
	back, err := s.unarchiveMove(path)
	if err != nil {
		return err
	}
	info, err := s.disk.Lstat(back.to)
	if disk.IsNotExist(err) {
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
	files, backup := m.store.disk, m.to+home.BackupSuffix
	earlier := m.checkLeftover(backup) == nil
	err := m.store.SyncEntries(m.from)
	if err == nil {
		err = files.Remove(m.to)
	}
	if err != nil {
		return err
	}
	if earlier {
		_ = files.Remove(backup) // not needed any more
	}
	return files.SyncDir(filepath.Dir(m.to))
}
