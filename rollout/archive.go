package rollout

import (
	"path/filepath"
	"slices"
	"strings"
)

// IsArchived reports whether a path is below archived_sessions.
func (s *Store) IsArchived(path string) bool { return s.isBelow(archivedDir, path) }

func (s *Store) isBelow(root, path string) bool {
	return strings.HasPrefix(filepath.Clean(path), filepath.Join(s.home, root)+string(filepath.Separator))
}

// FindArchived returns the path of the newest archived rollout of a thread, or a
// *NotArchivedError.
func (s *Store) FindArchived(id string) (string, error) {
	path, err := s.findBelow(archivedDir, threadID, id)
	if path != "" {
		return path, nil
	}
	return "", firstError(err, &NotArchivedError{id})
}

// CheckArchive returns the error with which Archive would refuse the rollout, or nil. It
// changes nothing.
func (s *Store) CheckArchive(path string) error {
	moves, err := s.threadMoves(path, sessionsDir, s.archiveMove)
	if err == nil {
		err = checkAll(moves)
	}
	return err
}

// Archive moves a rollout and its backup to archived_sessions and returns the new path. The
// move is durable and never overwrites a file. The rollout must not be open.
//
// Older files of a reverted thread are moved first. So the thread counts as archived only
// after its newest file is moved. After an error, each file is at its old or at its new path.
func (s *Store) Archive(path string) (string, error) {
	moves, err := s.threadMoves(path, sessionsDir, s.archiveMove)
	if err != nil {
		return "", err
	}
	to := moves[0].to
	slices.Reverse(moves)
	return to, s.runMovesLocked(moves)
}

// Unarchive moves an archived rollout back to the folder of the day in its name. The other
// files of the thread follow.
func (s *Store) Unarchive(path string) (string, error) {
	moves, err := s.threadMoves(path, archivedDir, s.unarchiveMove)
	if err != nil {
		return "", err
	}
	return moves[0].to, s.runMovesLocked(moves)
}

// threadMoves returns the moves of a rollout and of the other files of its thread below root.
// The first move is that of the given rollout.
func (s *Store) threadMoves(path, root string, newMove func(path string) (*move, error)) ([]*move, error) {
	newest, err := newMove(path)
	if err != nil {
		return nil, err
	}
	moves, has := []*move{newest}, map[string]bool{fileID(path): true}
	for name, err := range s.walk(walk{root: root}) {
		if err = transientOnly(err); err != nil {
			return nil, err
		}
		if name == "" || threadID(name) != newest.id || has[fileID(name)] {
			continue // a folder that is unreadable for good has no files to move
		}
		has[fileID(name)] = true
		m, err := newMove(filepath.Join(s.home, root, name))
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

// runMovesLocked runs the moves under the writer lock of the thread.
func (s *Store) runMovesLocked(moves []*move) error {
	lock, err := s.lock(moves[0].id)
	if err != nil {
		return err
	}
	return firstError(runMoves(moves), diskError(moves[0].op, moves[0].from, lock.release()))
}

// runMoves checks all moves before it runs the first. The caller holds the writer lock.
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

// backupPath returns the path of a rollout's backup. Programs without backups move the rollout
// alone, so the backup may still be at the rollout's former path.
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

// fetchBackup moves such a backup beside its rollout. The caller holds the writer lock.
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

// completedMove returns the move that would have led to the present path of a rollout.
func (s *Store) completedMove(path string) (*move, error) {
	newMove := s.archiveMove
	if s.IsArchived(path) {
		newMove = s.unarchiveMove
	}
	m, err := newMove(path)
	if err != nil {
		return nil, err
	}
	m.from, m.to, m.path = m.to, path, path+temporarySuffix
	return m, nil
}
