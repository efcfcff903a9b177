package rollout

import (
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
)

// folders are those whose names outlast a crash, as they were when that was known: a folder
// that somebody removed and made anew is another one. The zero value knows none.
type syncedFolders struct {
	mu    sync.Mutex
	known map[string]fs.FileInfo
}

func (f *syncedFolders) info(path string) fs.FileInfo {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known[path]
}

func (f *syncedFolders) add(path string, info fs.FileInfo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = map[string]fs.FileInfo{}
	}
	f.known[path] = info
}

// syncEntries makes the names on the way from home to a file durable.
func (s *Store) syncEntries(path string) error {
	dir := filepath.Dir(path)
	if err := s.disk.SyncDir(dir); err != nil {
		return err
	}
	for below := s.home + string(filepath.Separator); strings.HasPrefix(dir, below); dir = filepath.Dir(dir) {
		if err := s.syncFolder(dir); err != nil {
			return err
		}
	}
	return nil
}

// syncFolder makes the name of a folder durable. It looks at the folder first: one that takes
// its place meanwhile is not taken for the one that was synced.
func (s *Store) syncFolder(dir string) error {
	info, err := s.disk.Stat(dir)
	if err != nil {
		return err
	}
	if known := s.folders.info(dir); known != nil && s.disk.SameFile(known, info) {
		return nil
	}
	if err := s.disk.SyncDir(filepath.Dir(dir)); err != nil {
		return err
	}
	s.folders.add(dir, info)
	return nil
}
