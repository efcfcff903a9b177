package home

import (
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
)

// syncedFolders holds the folders whose names are durable. It compares the folder's identity,
// because a folder may be removed and created again. The zero value is empty.
//
// A new thread then costs one sync of a file and one of a folder.
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

// SyncEntries makes the directory entries from home to a file durable.
func (h *Home) SyncEntries(path string) error {
	dir := filepath.Dir(path)
	if err := h.disk.SyncDir(dir); err != nil {
		return err
	}
	for below := h.dir + string(filepath.Separator); strings.HasPrefix(dir, below); dir = filepath.Dir(dir) {
		if err := h.syncFolder(dir); err != nil {
			return err
		}
	}
	return nil
}

// syncFolder makes the name of a folder durable. It reads the folder's identity before the
// sync. So a folder that is replaced meanwhile does not count as synced.
func (h *Home) syncFolder(dir string) error {
	info, err := h.disk.Stat(dir)
	if err != nil {
		return err
	}
	if known := h.folders.info(dir); known != nil && h.disk.SameFile(known, info) {
		return nil
	}
	if err := h.disk.SyncDir(filepath.Dir(dir)); err != nil {
		return err
	}
	h.folders.add(dir, info)
	return nil
}
