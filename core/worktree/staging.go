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

	"golang.org/x/sys/unix"
)

// stagingPrefix begins the names of folders in the root. A restore puts the new files there, and the
// former ones until it has ended: on the same disk, and not in the way if a folder becomes a file.
const stagingPrefix = ".appserver-restore-"

// staging is a running restore. It first writes all new content, then renames each file to its path,
// and removes the former files at the end.
type staging struct {
	*locked
	dir   string
	fd    int
	steps []*step
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
	defer unix.Close(root)
	if err := unix.Mkdirat(root, name, 0o700); err != nil {
		return nil, fmt.Errorf("cannot write in %s: %w", l.root, err)
	}
	fd, _, err := l.openFolder(name, false)
	if err == nil {
		err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	}
	return &staging{locked: l, dir: filepath.Join(l.root, name), fd: fd}, err
}

// removeStagings removes the folders of killed servers. Captures have all of their files. A folder
// that the server of another home uses is locked, and stays.
func (t *Tree) removeStagings() {
	left, _ := filepath.Glob(filepath.Join(escapeGlob(t.root), stagingPrefix+"*"))
	for _, name := range left {
		fd, _, err := t.openFolder(filepath.Base(name), false)
		if err != nil {
			continue
		}
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(name)
		}
		_ = unix.Close(fd)
	}
}

func escapeGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

func (s *staging) close() {
	_ = unix.Close(s.fd)
	if !s.keep {
		_ = os.RemoveAll(s.dir)
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
	return unix.Symlinkat(target.String(), s.fd, p.fresh)
}

// writeFile writes a file. It has the permissions of the file that it replaces, except for execution.
func (s *staging) writeFile(content io.Reader, p *step) error {
	perm := uint32(0o666)
	if p.Before.Mode == ModeExecutable {
		perm = 0o777
	}
	fd, err := unix.Openat(s.fd, p.fresh, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), p.fresh)
	_, err = io.Copy(file, content)
	if err == nil && p.seen.isFile() && p.seen.kind == unix.S_IFREG {
		kept := fs.FileMode(p.seen.perm &^ 0o111)
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
