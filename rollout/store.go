package rollout

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Store gives access to the rollouts of one home (CODEX_HOME).
type Store struct {
	// SnapshotVersion identifies the program and format of snapshots. Snapshots of another
	// version are ignored. Set it before the first use.
	SnapshotVersion string
	disk            retryFS
	home            string
	folders         syncedFolders
	updateTimes     updateTimes
	chunkReader
	// snapshotCacheMin is the amount of data that is worth a cache, in bytes.
	snapshotCacheMin int64
}

// NewStore returns a store. It does not access the disk, and home need not exist.
func NewStore(disk FS, home string) *Store {
	return &Store{
		disk:             retryFS{disk, &idleLogs{}},
		home:             filepath.Clean(home),
		chunkReader:      chunkReader{chunkSize, maxLine},
		snapshotCacheMin: snapshotCacheMin,
	}
}

// Find returns the path of a thread's rollout: the newest one below sessions, or else the
// newest archived one, or a *NotFoundError. An unreadable folder is an error only if the
// thread is not found elsewhere.
func (s *Store) Find(id string) (string, error) { return s.find(threadID, id) }

func (s *Store) find(idOf func(path string) string, id string) (string, error) {
	if !isThreadID(id) {
		return "", &NotFoundError{id}
	}
	path, err := s.findBelow(sessionsDir, idOf, id)
	if path != "" {
		return path, nil
	}
	archived, archivedErr := s.findBelow(archivedDir, idOf, id)
	if archived != "" {
		return archived, nil
	}
	return "", firstError(err, archivedErr, &NotFoundError{id})
}

// findFile returns the path of the file with an id. It looks first in the folder of the day in
// the id, so it rarely reads all folders.
func (s *Store) findFile(id string) (string, error) {
	if at, ok := timeOfID(id); ok {
		dir := s.dayDir(at)
		entries, err := s.disk.ReadDir(dir)
		for _, e := range entries {
			if err == nil && !e.IsDir() && fileID(e.Name()) == id {
				return filepath.Join(dir, e.Name()), nil
			}
		}
	}
	return s.find(fileID, id)
}

// findBelow returns the path of the newest rollout below a root with an id, or "". unread is
// then the error of a folder that could not be read.
func (s *Store) findBelow(root string, idOf func(path string) string, id string) (path string, unread error) {
	for f, err := range s.walk(walk{root: root}) {
		if err != nil {
			unread = err
			continue
		}
		if idOf(f) == id {
			return filepath.Join(s.home, root, f), nil
		}
	}
	return "", unread
}

// open opens a regular file. Anything else is a *KindError.
func (s *Store) open(path string, flag int) (File, fs.FileInfo, error) {
	f, err := s.disk.OpenFile(path, flag, fileMode)
	if err != nil {
		return nil, nil, diskError("open", path, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &KindError{path, info.Mode()}
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, diskError("open", path, err)
	}
	return f, info, nil
}

// create creates a file that must not exist, and its folders.
func (s *Store) create(path string) (File, error) {
	if err := s.disk.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, err
	}
	return s.disk.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
}
