package home

import (
	"cmp"
	"path/filepath"

	"appserver/platform/disk"
	"appserver/rollout/zst"
)

// CacheDir is the folder for files that can be deleted at any time.
const CacheDir = "appserver-cache"

// Home gives access to the files of one home (CODEX_HOME).
type Home struct {
	disk *zst.FS
	// locks is the file system without retries, because freeing file descriptors releases locks.
	locks   disk.FS
	dir     string
	folders syncedFolders
}

// New returns a home. It does not access the disk, and dir need not exist. If the process has no
// file descriptors left, free closes some and reports whether it closed any. It may be nil.
func New(fs disk.FS, dir string, free func() bool) *Home {
	retrying := disk.Retrying{FS: fs, Free: free}
	return &Home{disk: zst.New(retrying, filepath.Join(dir, CacheDir)), locks: fs, dir: filepath.Clean(dir)}
}

// Disk returns the file system, which frees file descriptors and retries. A compressed rollout has its plain name.
func (h *Home) Disk() *zst.FS { return h.disk }

// Path returns the path of a file in the home.
func (h *Home) Path(name ...string) string {
	return filepath.Join(append([]string{h.dir}, name...)...)
}

// Find returns the path of a thread's rollout: the newest one below sessions, or else the
// newest archived one, or a *NotFoundError. An unreadable folder is an error only if the
// thread is not found elsewhere.
func (h *Home) Find(id string) (string, error) { return h.find(ThreadID, id) }

func (h *Home) find(idOf func(path string) string, id string) (string, error) {
	if !IsThreadID(id) {
		return "", &NotFoundError{id}
	}
	path, err := h.findBelow(Sessions, idOf, id)
	if path != "" {
		return path, nil
	}
	archived, archivedErr := h.findBelow(Archived, idOf, id)
	if archived != "" {
		return archived, nil
	}
	return "", cmp.Or[error](err, archivedErr, &NotFoundError{id})
}

// FindArchived returns the path of the newest archived rollout of a thread, or a
// *NotArchivedError.
func (h *Home) FindArchived(id string) (string, error) {
	path, err := h.findBelow(Archived, ThreadID, id)
	if path != "" {
		return path, nil
	}
	return "", cmp.Or[error](err, &NotArchivedError{id})
}

// FindFile returns the path of the file with an id. It looks first in the folder of the day in
// the id, so it rarely reads all folders.
func (h *Home) FindFile(id string) (string, error) {
	if at, ok := timeOfID(id); ok {
		dir := h.dayDir(at)
		entries, err := h.disk.ReadDir(dir)
		for _, e := range entries {
			if err == nil && !e.IsDir() && FileID(e.Name()) == id {
				return filepath.Join(dir, e.Name()), nil
			}
		}
	}
	return h.find(FileID, id)
}

// FindFileIn returns the path of the file with an id below a root, or "". unread is then the
// error of a folder that could not be read.
func (h *Home) FindFileIn(root, id string) (path string, unread error) {
	return h.findBelow(root, FileID, id)
}

// findBelow returns the path of the newest rollout below a root with an id, or "". unread is
// then the error of a folder that could not be read.
func (h *Home) findBelow(root string, idOf func(path string) string, id string) (path string, unread error) {
	for f, err := range h.Walk(Walk{Root: root}) {
		if err != nil {
			unread = err
			continue
		}
		if idOf(f) == id {
			return filepath.Join(h.dir, root, f), nil
		}
	}
	return "", unread
}
