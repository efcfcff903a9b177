package worktree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"appserver/platform/osfile"
)

// repository has the location of a worktree's repository.
type repository struct {
	root string
	// dir has the worktree's index, common the objects, refs and configuration. Both are "" without a
	// usable repository.
	dir, common string
}

// find returns the nearest repository above a folder, like git. It runs nothing, reads no
// configuration that could name another place, and stays on the folder's file system.
func find(ctx context.Context, g git, cwd string) (repository, error) {
	start, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return repository{}, err
	}
	for dir := start; osfile.SameDisk(start, dir); dir = filepath.Dir(dir) {
		name := filepath.Join(dir, ".git")
		switch info, err := os.Lstat(name); {
		case err == nil && info.IsDir() && isRepository(name):
			return repository{dir, name, name}.usable(), nil
		case err == nil && info.Mode().IsRegular():
			return linked(ctx, g, dir, name).usable(), nil
		case err == nil && info.Mode().Type() == fs.ModeSymlink:
			return repository{root: dir}, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return repository{root: start}, nil
}

func isRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil && isFolder(filepath.Join(dir, "objects")) && isFolder(filepath.Join(dir, "refs"))
}

// isFolder reports whether name is a folder. A link to a folder is not.
func isFolder(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

// linked returns the repository of a .git file, as in a linked worktree or a submodule. Any program
// can write such a file, so its git folder must refer back to the root.
func linked(ctx context.Context, g git, root, file string) repository {
	none := repository{root: root}
	target, ok := strings.CutPrefix(readLine(file), "gitdir: ")
	if !ok {
		return none
	}
	dir, err := filepath.EvalSymlinks(from(root, target))
	if err != nil {
		return none
	}
	if common := readLine(filepath.Join(dir, "commondir")); common != "" {
		back := readLine(filepath.Join(dir, "gitdir"))
		if !sameFile(from(dir, back), file) || !isRepository(from(dir, common)) {
			return none
		}
		return repository{root, dir, from(dir, common)}
	}
	back, err := g.word(ctx, nil, "config", "--file", filepath.Join(dir, "config"), "--get", "core.worktree")
	if err != nil || !sameFile(from(dir, back), root) || !isRepository(dir) {
		return none
	}
	return repository{root, dir, dir}
}

// usable returns the repository, without its git folder if that cannot be written or refers to another
// one.
func (r repository) usable() repository {
	_, err := os.Lstat(filepath.Join(r.common, "commondir"))
	if r.common == "" || !errors.Is(err, fs.ErrNotExist) {
		return repository{root: r.root}
	}
	for _, name := range []string{"objects", "refs"} {
		if !osfile.MayWriteIn(filepath.Join(r.common, name)) {
			return repository{root: r.root}
		}
	}
	entries, err := os.ReadDir(filepath.Join(r.common, "objects"))
	if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Type() == fs.ModeSymlink }) {
		return repository{root: r.root}
	}
	return r
}

func from(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

func sameFile(a, b string) bool {
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}

// readLine returns the content of a short file, or "".
func readLine(name string) string { return string(bytes.TrimSpace(readSmall(name))) }

// maxSmall is the longest file of a git folder that is read, in bytes.
const maxSmall = 1 << 20

// readSmall returns the content of a file, or nil if it is not a regular file or too long. Opening a
// FIFO would block forever.
func readSmall(name string) []byte {
	content, err := osfile.ReadRegular(name, osfile.Bounds{Max: maxSmall + 1})
	if err != nil || len(content) > maxSmall {
		return nil
	}
	return content
}
