package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"appserver/platform/osfile"
)

// writtenRef is the last ref whose file the process wrote.
type writtenRef struct {
	name, commit string
	file         osfile.Info
}

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
		err = t.createLocked(folder, ref, commit)
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

// createLocked creates the file of a ref that must not exist, under the lock that git takes too. The folder is not
// synced.
func (t *Tree) createLocked(folder *osfile.Folder, ref, commit string) error {
	name := path.Base(ref)
	lock := name + ".lock"
	if err := t.createLock(folder, lock, ref, commit); err != nil {
		return err
	}
	_, err := folder.Stat(name)
	if err == nil {
		err = fs.ErrExist
	} else if errors.Is(err, fs.ErrNotExist) {
		err = folder.Rename(lock, folder, name)
	}
	if err != nil {
		_ = folder.Remove(lock)
	}
	return err
}

// createLock creates the lock of a ref, which will be its file, synced. If the last ref that was written names the
// same commit, the lock is a hard link to its file: threads that begin with the same files then share one file. Git
// replaces the files of refs and never writes them in place.
func (t *Tree) createLock(folder *osfile.Folder, lock, ref, commit string) error {
	if t.written.commit == commit && t.linkLast(folder, lock) == nil {
		return nil
	}
	file, err := folder.Create(lock, 0o666)
	if err != nil {
		return err
	}
	_, err = file.WriteString(commit + "\n")
	info, failed := osfile.InfoOf(file)
	if err = errors.Join(err, failed, file.Sync(), file.Close()); err != nil {
		_ = folder.Remove(lock)
		return err
	}
	t.written = writtenRef{ref, commit, info}
	return nil
}

func (t *Tree) linkLast(folder *osfile.Folder, lock string) error {
	last, err := osfile.OpenFolder(filepath.Join(t.refsGit().dir, filepath.FromSlash(path.Dir(t.written.name))))
	if err != nil {
		return err
	}
	defer func() { _ = last.Close() }()
	return last.LinkUnchanged(path.Base(t.written.name), folder, lock, t.written.file)
}
