package tool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"appserver/core"
	"appserver/core/patch"
)

// maxPatched is the longest file that a patch changes, in bytes.
const maxPatched = 64 << 20

// Patcher reads and writes the files of patches, below one directory. It follows
// links that stay below it; those that lead out of it, into a .git or into a closed
// directory are refused. Files are written beside their place and renamed.
type Patcher struct {
	// Closed are directories that no patch reads or writes, but one that is applied
	// in a directory below them.
	Closed []string
}

// Plan is what a patch does to the files below its directory. It changes none.
func (p Patcher) Plan(e core.PlanPatch) core.PatchPlanned {
	result, err := p.plan(e)
	return core.PatchPlanned{Effect: e.ID, Result: result, Err: err}
}

func (p Patcher) plan(e core.PlanPatch) (*patch.Result, error) {
	read, err := patch.Parse(e.Text)
	if err != nil {
		return nil, err
	}
	root, err := p.open(e.Root, e.Dir)
	if err != nil {
		return nil, err
	}
	defer root.close()
	return read.Apply(root)
}

// disk is what a Patcher does to a disk; an *os.Root does it.
type disk interface {
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
	Mkdir(name string, perm fs.FileMode) error
	Link(old, name string) error
	Rename(old, name string) error
	Remove(name string) error
	Close() error
}

// root is the directory below which a patch is applied, with its links followed.
type root struct {
	disk
	dir    string
	closed []string
}

// open is the directory of a patch, which must not lead out of another by a link.
func (p Patcher) open(within, dir string) (*root, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("the directory of the patch cannot be used: %w", err)
	}
	if slices.Contains(strings.Split(real, "/"), ".git") {
		return nil, fmt.Errorf("%s is in .git, which patches do not change", real)
	}
	if outer, err := filepath.EvalSymlinks(within); within != "" && (err != nil || !below(outer, real)) {
		return nil, fmt.Errorf("%s leads out of %s by a link", dir, within)
	}
	d, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("the directory of the patch cannot be used: %w", err)
	}
	r := &root{disk: d, dir: real}
	for _, c := range p.Closed {
		if c, err = filepath.EvalSymlinks(c); err == nil && (c == real || !below(c, real)) {
			r.closed = append(r.closed, c)
		}
	}
	return r, nil
}

func (r *root) close() { _ = r.Close() }

// Read is a file's content, for patch.Files.
func (r *root) Read(name string) (content string, exists bool, err error) {
	name, err = r.resolve(name, true)
	if err != nil {
		return "", false, err
	}
	content, _, err = r.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return content, err == nil, err
}

// read is the content and the mode of a regular file, by its resolved name.
func (r *root) read(name string) (string, fs.FileMode, error) {
	info, err := r.Lstat(name)
	switch {
	case err != nil:
		return "", 0, err
	case !info.Mode().IsRegular():
		return "", 0, errors.New("it is no file")
	case info.Size() > maxPatched:
		return "", 0, fmt.Errorf("the file is longer than %d MiB; change it by a command", maxPatched>>20)
	}
	f, err := r.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxPatched+1))
	return string(content), info.Mode().Perm(), err
}

// maxLinks is how many links a name may lead through.
const maxLinks = 40

// resolve is the name that a name stands for once its links are followed, that of the
// last part only where follow is set. What does not exist stands for itself.
func (r *root) resolve(name string, follow bool) (string, error) {
	done, rest, links := "", strings.Split(name, "/"), 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		if part == ".." && done == "" {
			return "", fmt.Errorf("it leads out of %s by a link", r.dir)
		}
		next := path.Join(done, part)
		target, err := r.Readlink(next)
		if err != nil || len(rest) == 0 && !follow {
			if done = next; done == "." {
				done = ""
			}
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("it leads through too many links")
		}
		if filepath.IsAbs(target) {
			if target, err = filepath.Rel(r.dir, target); err != nil || !filepath.IsLocal(target) {
				return "", fmt.Errorf("it leads out of %s by a link", r.dir)
			}
			done = ""
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return done, r.check(done)
}

// check refuses what patches do not change, by the name that is left once links are
// followed.
func (r *root) check(name string) error {
	if slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.EqualFold(part, ".git") }) {
		return errors.New("it leads into .git by a link")
	}
	full := filepath.Join(r.dir, name)
	for _, c := range r.closed {
		if below(c, full) {
			return fmt.Errorf("it is in %s, which patches do not change", c)
		}
	}
	return nil
}

// below tells whether a path is a directory or in it.
func below(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
