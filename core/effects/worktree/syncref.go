package worktree

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"appserver/platform/osfile"
)

// syncRef makes the name of a ref durable, and the names of the folders above it up to refs. Repositories with another
// ref format have no such folders.
func (t *Tree) syncRef(file string) error {
	thread := filepath.Dir(file)
	all := filepath.Dir(thread)
	for _, dir := range []string{thread, all} {
		if err := syncFolder(dir); err != nil {
			return err
		}
	}
	return t.refsName.sync(all, time.Now(), syncFolder)
}

func syncFolder(dir string) error {
	if err := osfile.SyncFolder(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// durableName remembers the last folder whose name it made durable.
type durableName struct {
	mu    sync.Mutex
	known osfile.Identity
}

// sync makes the name of a folder durable: syncFolder syncs the folder above it, unless the last call did so for the
// same folder. The identity is read before the sync, so a folder that is replaced meanwhile does not count as synced.
// The identity of a folder that was created a moment ago need not differ from that of one which was removed.
func (n *durableName) sync(folder string, now time.Time, syncFolder func(string) error) error {
	id, err := osfile.IdentityOf(folder)
	unique := err == nil && id.Born != 0 && settled(id.Born, now)
	n.mu.Lock()
	known := unique && id == n.known
	n.mu.Unlock()
	if known {
		return nil
	}
	err = syncFolder(filepath.Dir(folder))
	if err == nil && unique {
		n.mu.Lock()
		n.known = id
		n.mu.Unlock()
	}
	return err
}
