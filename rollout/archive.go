package rollout

import (
	"path/filepath"
	"slices"
	"strings"
)

// IsArchived tells whether a path leads below archived_sessions.
func (s *Store) IsArchived(path string) bool { return s.isBelow(archivedDir, path) }

func (s *Store) isBelow(root, path string) bool {
	return strings.HasPrefix(filepath.Clean(path), filepath.Join(s.home, root)+string(filepath.Separator))
}

// FindArchived is the path of a thread's newest archived rollout, else a
// *NotArchivedError.
func (s *Store) FindArchived(id string) (string, error) {
	path, err := s.findBelow(archivedDir, threadID, id)
	if path != "" {
		return path, nil
	}
	return "", firstError(err, &NotArchivedError{id})
}

// CheckArchive is the error, if any, with which Archive would refuse a rollout before it
// does anything.
func (s *Store) CheckArchive(path string) error {
	moves, err := s.threadMoves(path, sessionsDir, s.archiveMove)
	if err == nil {
		err = checkAll(moves)
	}
	return err
}

// Archive moves a rollout that nobody has open, and its backup, to archived_sessions,
// durably, and gives the new path. The other files of a thread that was reverted go first, so
// that the thread is archived when its newest file is. It never takes another file's place. After an error
// the rollout is where it was, or where it should be.
func (s *Store) Archive(path string) (string, error) {
	moves, err := s.threadMoves(path, sessionsDir, s.archiveMove)
	if err != nil {
		return "", err
	}
	to := moves[0].to
	slices.Reverse(moves)
	return to, s.runMovesLocked(moves)
}

// Unarchive moves an archived rollout back to the folder of the day in its name, as
// Archive does the other way; the other files of its thread follow it.
func (s *Store) Unarchive(path string) (string, error) {
	moves, err := s.threadMoves(path, archivedDir, s.unarchiveMove)
	if err != nil {
		return "", err
	}
	return moves[0].to, s.runMovesLocked(moves)
}

// moves are those of a rollout and, behind it, of the other files of its thread below a root.
func (s *Store) threadMoves(path, root string, way func(path string) (*move, error)) ([]*move, error) {
	newest, err := way(path)
	if err != nil {
		return nil, err
	}
	moves, has := []*move{newest}, map[string]bool{fileID(path): true}
	for name, err := range s.walk(walk{root: root}) {
		if err = transientOnly(err); err != nil {
			return nil, err
		}
		if name == "" || threadID(name) != newest.id || has[fileID(name)] {
			continue // what cannot be read for good holds nothing that can be moved
		}
		has[fileID(name)] = true
		m, err := way(filepath.Join(s.home, root, name))
		if err != nil {
			return nil, err
		}
		moves = append(moves, m)
	}
	return moves, nil
}

func checkAll(moves []*move) error {
	for _, m := range moves {
		if err := m.check(); err != nil {
			return err
		}
	}
	return nil
}

// runAll moves, as the thread's one writer.
func (s *Store) runMovesLocked(moves []*move) error {
	lock, err := s.lock(moves[0].id)
	if err != nil {
		return err
	}
	return firstError(runMoves(moves), diskError(moves[0].op, moves[0].from, lock.release()))
}

// runLocked moves all, or none that can be known not to be. The caller is the thread's one writer.
func runMoves(moves []*move) error {
	err := checkAll(moves)
	for _, m := range moves {
		if err == nil {
			err = m.checkAndRun()
		}
	}
	return err
}

func (s *Store) archiveMove(path string) (*move, error) {
	id := threadID(path)
	switch {
	case id == "":
		return nil, &NameError{path}
	case !s.isBelow(sessionsDir, path):
		return nil, diskError("archive", path, errOutside)
	}
	to := filepath.Join(s.home, archivedDir, filepath.Base(path))
	return &move{tempFile{s, to + temporarySuffix}, "archive", id, archivedDir, path, to}, nil
}

func (s *Store) unarchiveMove(path string) (*move, error) {
	id := threadID(path)
	at, dated := nameTimeOf(path)
	switch {
	case id == "":
		return nil, &NameError{path}
	case !s.IsArchived(path):
		return nil, diskError("unarchive", path, errOutside)
	case !dated:
		return nil, diskError("unarchive", path, errUndated)
	}
	to := filepath.Join(s.dayDir(at), filepath.Base(path))
	return &move{tempFile{s, to + temporarySuffix}, "unarchive", id, sessionsDir, path, to}, nil
}

// backupOf is the path of a rollout's backup: beside it or, where only a program that knows
// of no backups has moved the rollout, where that came from.
func (s *Store) backupPath(path string) string {
	beside := path + backupSuffix
	if _, err := s.disk.Lstat(beside); !isNotExist(err) {
		return beside
	}
	m, err := s.completedMove(path)
	if err != nil {
		return beside
	}
	if _, err := s.disk.Lstat(m.from + backupSuffix); err != nil {
		return beside
	}
	return m.from + backupSuffix
}

// bringBackup puts such a backup beside its rollout. The caller is the thread's writer.
func (s *Store) fetchBackup(path string) error {
	m, err := s.completedMove(path)
	if err == nil {
		err = m.linkBackup()
	}
	if err != nil {
		return diskError("bring the backup of", path, err)
	}
	m.removeOldBackup()
	return nil
}

// bringing is the move that a rollout below one of the roots has made.
func (s *Store) completedMove(path string) (*move, error) {
	way := s.archiveMove
	if s.IsArchived(path) {
		way = s.unarchiveMove
	}
	m, err := way(path)
	if err != nil {
		return nil, err
	}
	m.from, m.to, m.path = m.to, path, path+temporarySuffix
	return m, nil
}
