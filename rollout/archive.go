package rollout

import (
	"path/filepath"
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
	path, err := s.findBelow(archivedDir, id)
	if path != "" {
		return path, nil
	}
	return "", first(err, &NotArchivedError{id})
}

// CheckArchive is the error, if any, with which Archive would refuse a rollout before it
// does anything.
func (s *Store) CheckArchive(path string) error {
	m, err := s.archiving(path)
	if err != nil {
		return err
	}
	return m.check()
}

// Archive moves a rollout that nobody has open, and its backup, to archived_sessions,
// durably, and gives the new path. It never takes another file's place. After an error
// the rollout is where it was, or where it should be.
func (s *Store) Archive(path string) (string, error) {
	m, err := s.archiving(path)
	if err != nil {
		return "", err
	}
	return m.to, m.run()
}

// Unarchive moves an archived rollout back to the folder of the day in its name, as
// Archive does the other way.
func (s *Store) Unarchive(path string) (string, error) {
	m, err := s.unarchiving(path)
	if err != nil {
		return "", err
	}
	return m.to, m.run()
}

func (s *Store) archiving(path string) (*move, error) {
	id := threadID(path)
	switch {
	case id == "":
		return nil, &NameError{path}
	case !s.isBelow(sessionsDir, path):
		return nil, diskError("archive", path, errOutside)
	}
	to := filepath.Join(s.home, archivedDir, filepath.Base(path))
	return &move{substitute{s, to + temporarySuffix}, "archive", id, archivedDir, path, to}, nil
}

func (s *Store) unarchiving(path string) (*move, error) {
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
	return &move{substitute{s, to + temporarySuffix}, "unarchive", id, sessionsDir, path, to}, nil
}

// backupOf is the path of a rollout's backup: beside it or, where only a program that knows
// of no backups has moved the rollout, where that came from.
func (s *Store) backupOf(path string) string {
	beside := path + backupSuffix
	if _, err := s.disk.Lstat(beside); !absent(err) {
		return beside
	}
	m, err := s.bringing(path)
	if err != nil {
		return beside
	}
	if _, err := s.disk.Lstat(m.from + backupSuffix); err != nil {
		return beside
	}
	return m.from + backupSuffix
}

// bringBackup puts such a backup beside its rollout. The caller is the thread's writer.
func (s *Store) bringBackup(path string) error {
	m, err := s.bringing(path)
	if err == nil {
		err = m.carryBackup()
	}
	if err != nil {
		return diskError("bring the backup of", path, err)
	}
	m.dropBackup()
	return nil
}

// bringing is the move that a rollout below one of the roots has made.
func (s *Store) bringing(path string) (*move, error) {
	way := s.archiving
	if s.IsArchived(path) {
		way = s.unarchiving
	}
	m, err := way(path)
	if err != nil {
		return nil, err
	}
	m.from, m.to, m.temporary = m.to, path, path+temporarySuffix
	return m, nil
}
