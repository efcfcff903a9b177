package rollout

import (
	"cmp"
	"slices"

	"appserver/platform/disk"
	"appserver/rollout/home"
	"appserver/rollout/zst"
)

// CheckArchive returns the error with which Archive would refuse the rollout, or nil. It
// changes nothing.
func (s *Store) CheckArchive(path string) error {
	moves, err := s.threadMoves(path, home.Sessions, s.archiveMove)
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
	moves, err := s.threadMoves(path, home.Sessions, s.archiveMove)
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
	moves, err := s.threadMoves(path, home.Archived, s.unarchiveMove)
	if err != nil {
		return "", err
	}
	return moves[0].to, s.runMovesLocked(moves)
}

// threadMoves returns the moves of a rollout and of the other files of its thread below root.
// The first move is that of the given rollout.
func (s *Store) threadMoves(path, root string, newMove func(path string) (*move, error)) ([]*move, error) {
	path = zst.Plain(path)
	newest, err := newMove(path)
	if err != nil {
		return nil, err
	}
	moves, has := []*move{newest}, map[string]bool{home.FileID(path): true}
	for name, err := range s.Walk(home.Walk{Root: root}) {
		if err = disk.TransientOnly(err); err != nil {
			return nil, err
		}
		if name == "" || home.ThreadID(name) != newest.id || has[home.FileID(name)] {
			continue // a folder that is unreadable for good has no files to move
		}
		has[home.FileID(name)] = true
		m, err := newMove(s.Path(root, name))
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
	lock, err := s.Lock(moves[0].id)
	if err != nil {
		return err
	}
	return cmp.Or(runMoves(moves), disk.Wrap(moves[0].op, moves[0].from, lock.Release()))
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
	to, err := s.ArchivePath(path)
	if err != nil {
		return nil, err
	}
	return s.newMove("archive", home.Archived, path, to), nil
}

func (s *Store) unarchiveMove(path string) (*move, error) {
	to, err := s.UnarchivePath(path)
	if err != nil {
		return nil, err
	}
	return s.newMove("unarchive", home.Sessions, path, to), nil
}

// fetchBackup moves a backup from a rollout's former path beside the rollout. The caller holds
// the writer lock.
func (s *Store) fetchBackup(path string) error {
	former, err := s.FormerPath(path)
	if err != nil {
		return disk.Wrap("bring the backup of", path, err)
	}
	m := s.newMove("move", "", former, path)
	if err := m.linkBackup(); err != nil {
		return disk.Wrap("bring the backup of", path, err)
	}
	m.removeOldBackup()
	return nil
}
