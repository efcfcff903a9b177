package rollout

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Store is the rollouts below one home (CODEX_HOME).
type Store struct {
	// Reader names the program whose snapshots can be used. It is set before the store is
	// used.
	SnapshotVersion string
	disk            retryFS
	home            string
	folders         syncedFolders
	chunkReader
	// bookmarkFrom is how much is worth a bookmark, in bytes.
	snapshotCacheMin int64
}

// NewStore touches nothing; home need not exist.
func NewStore(disk FS, home string) *Store {
	return &Store{disk: retryFS{disk, &idleLogs{}}, home: filepath.Clean(home), chunkReader: chunkReader{chunkSize, maxLine}, snapshotCacheMin: snapshotCacheMin}
}

// Find is the path of a thread's rollout: the newest below sessions, else the newest
// archived one, else a *NotFoundError. A folder that cannot be read is an error only
// if the thread was not found elsewhere.
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

// findFile is the path of the file with an id. That is most often in the folder of the day on
// which the id was made, so that a look at all folders is rare.
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

// findBelow is the path of the newest rollout below a root that has an id, "" without one.
// Where it is not found, the error tells what could not be read.
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

// open opens a file and makes sure that it is a regular one.
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

// make makes a file that must not exist yet, and its folders.
func (s *Store) create(path string) (File, error) {
	if err := s.disk.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, err
	}
	return s.disk.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
}
