package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"appserver/core/osfile"
)

// createRef writes the file of a new ref without git. It follows git's protocol: it writes the lock of the ref, syncs
// it and renames it. It returns false if git has to write the ref. That is so if refs are not files here, if they
// belong to a group of users, if the ref exists or is locked, or if git has just removed a folder of it.
func (t *Tree) createRef(ref, commit string) (bool, error) {
	g := t.refsGit()
	// Refs may have been moved to this folder since the tree was opened.
	if _, err := os.Stat(filepath.Join(g.dir, "reftable")); err == nil || !t.fileRefs || g.shared != "" {
		return false, nil
	}
	t.creating.Lock()
	defer t.creating.Unlock()
	folder, err := createFolders(g.dir, path.Dir(ref))
	if err == nil {
		err = createLocked(folder, path.Base(ref), commit+"\n")
		_ = folder.Close()
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// createFolders opens a folder below dir. It creates missing ones, and follows no link.
func createFolders(dir, below string) (*osfile.Folder, error) {
	folder, err := osfile.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(below, "/") {
		next, err := folder.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			if err = folder.Mkdir(name, 0o777); err == nil || errors.Is(err, fs.ErrExist) {
				next, err = folder.Open(name)
			}
		}
		_ = folder.Close()
		if err != nil {
			return nil, err
		}
		folder = next
	}
	return folder, nil
}

// createLocked creates a file that must not exist, under the lock that git takes too. The folder is not synced.
func createLocked(folder *osfile.Folder, name, content string) error {
	lock := name + ".lock"
	file, err := folder.Create(lock, 0o666)
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		if _, err = folder.Stat(name); err == nil {
			err = fs.ErrExist
		} else if errors.Is(err, fs.ErrNotExist) {
			err = folder.Rename(lock, folder, name)
		}
	}
	if err != nil {
		_ = folder.Remove(lock)
	}
	return err
}
