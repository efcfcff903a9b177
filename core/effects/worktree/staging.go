package worktree

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"appserver/platform/osfile"
)

// stagingPrefix begins the names of folders in the root. A restore puts the new files there, and the
// former ones until it has ended: on the same disk, and not in the way if a folder becomes a file.
const stagingPrefix = ".appserver-restore-"

// staging is a running restore. It first writes all new content, then renames each file to its path,
// and removes the former files at the end.
type staging struct {
	*locked
	dir    string
	folder *osfile.Folder
	lock   *os.File
	steps  []*step
	// keep is set if the folder has files that could not be brought back.
	keep bool
}

// step is one path of a restore.
type step struct {
	Change
	// seen is the state of the path when the restore was planned.
	seen sight
	// fresh and old are the names of the new and the former file in the staging folder, or "".
	fresh, old string
	// done is set once the path has its new state.
	done bool
	// made has the folders that were created for it.
	made []string
}

// stage creates the folder. It stays locked until the restore ends.
func (l *locked) stage() (*staging, error) {
	name := stagingPrefix + rand.Text()
	root, _, err := l.openFolder(".", false)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.Mkdir(name, 0o700); err != nil {
		return nil, fmt.Errorf("cannot write in %s: %w", l.root, err)
	}
	folder, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	lock, err := lockStaging(folder)
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return &staging{locked: l, dir: filepath.Join(l.root, name), folder: folder, lock: lock}, nil
}

// removeStagings removes the folders of killed servers. Captures have all of their files. A folder
// that the server of another home uses is locked, and stays.
func (t *Tree) removeStagings() {
	entries, _ := os.ReadDir(t.root)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), stagingPrefix) {
			continue
		}
		folder, _, err := t.openFolder(e.Name(), false)
		if err != nil {
			continue
		}
		if lock, err := lockStaging(folder); err == nil {
			removeStaging(filepath.Join(t.root, e.Name()), lock)
		}
		_ = folder.Close()
	}
}

// removeStaging removes a folder, under its lock. Windows keeps an open file in its folder, so the rest is
// removed after the lock is closed.
func removeStaging(dir string, lock *os.File) {
	err := os.RemoveAll(dir)
	_ = lock.Close()
	if err != nil {
		_ = os.RemoveAll(dir)
	}
}

// lockStaging acquires the lock of a staging folder.
func lockStaging(folder *osfile.Folder) (*os.File, error) {
	const name = "lock"
	file, err := folder.Create(name, 0o600)
	if errors.Is(err, fs.ErrExist) {
		file, err = folder.OpenFile(name)
	}
	if err != nil {
		return nil, err
	}
	held, err := osfile.TryLock(file)
	if held {
		return file, nil
	}
	if err == nil {
		err = errors.New("another server uses the folder of a restore")
	}
	return nil, errors.Join(err, file.Close())
}

// release releases the lock of the folder, and removes the folder unless it has files to keep.
func (s *staging) release() {
	_ = s.folder.Close()
	if s.keep {
		_ = s.lock.Close()
	} else {
		removeStaging(s.dir, s.lock)
	}
}

// writeAll writes all new content.
func (s *staging) writeAll(ctx context.Context) error {
	var asked strings.Builder
	for _, p := range s.steps {
		if p.Before.Mode != 0 {
			asked.WriteString(p.Before.Object + "\n")
		}
	}
	if asked.Len() == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g := s.readGit()
	cmd := exec.CommandContext(ctx, g.program, append(g.flags(), "cat-file", "--batch")...)
	cmd.Dir, cmd.Env, cmd.Stdin = g.work, g.environ(), strings.NewReader(asked.String())
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	err = s.writeObjects(bufio.NewReaderSize(out, 1<<16))
	if err != nil {
		cancel()
	}
	return errors.Join(err, endError(cmd.Wait(), err))
}

// endError returns the error of git's end, or nil if an earlier error is known.
func endError(waited, before error) error {
	if before != nil {
		return nil
	}
	return waited
}

func (s *staging) writeObjects(in *bufio.Reader) error {
	for i, p := range s.steps {
		if p.Before.Mode == 0 {
			continue
		}
		p.fresh = "new-" + strconv.Itoa(i)
		if err := s.writeObject(in, p); err != nil {
			return fmt.Errorf("%q: %w", p.Path, err)
		}
	}
	return nil
}

// writeObject reads one object, "NAME blob SIZE", content and line end, and writes its file.
func (s *staging) writeObject(in *bufio.Reader, p *step) error {
	head, err := in.ReadString('\n')
	if err != nil {
		return fmt.Errorf("git ended: %w", err)
	}
	words := strings.Fields(head)
	if len(words) != 3 || words[1] != "blob" {
		return fmt.Errorf("the repository no longer has its former content, %s", p.Before.Object)
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return err
	}
	content := io.LimitReader(in, size)
	if p.Before.Mode == ModeLink {
		err = s.layLink(content, p)
	} else {
		err = s.writeFile(content, p)
	}
	if err == nil {
		_, err = in.Discard(1)
	}
	return err
}

func (s *staging) layLink(content io.Reader, p *step) error {
	var target bytes.Buffer
	if _, err := target.ReadFrom(content); err != nil {
		return err
	}
	return s.folder.Symlink(target.String(), p.fresh)
}

// writeFile writes a file. It has the permissions of the file that it replaces, except for execution.
func (s *staging) writeFile(content io.Reader, p *step) error {
	perm := fs.FileMode(0o666)
	if p.Before.Mode == ModeExecutable {
		perm = 0o777
	}
	file, err := s.folder.Create(p.fresh, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	if err == nil && p.seen.there && p.seen.Kind == 0 {
		kept := p.seen.Perm &^ 0o111
		if perm == 0o777 {
			kept |= kept & 0o444 >> 2
		}
		err = file.Chmod(kept)
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
