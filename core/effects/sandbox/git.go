package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"appserver/protocol"
)

// protected returns the names in a writable root that stay read-only: folders that a later start of
// the server reads, and files that make git run programs.
func protected(root string) []string { return append(protectedGit(root), protocol.ProtectedFolders...) }

// protectedGit returns the protected names of the root's repository. It creates a folder for hooks,
// because a name that does not exist cannot be protected. If another protected file is missing, or
// is a link, which could be replaced, the whole repository is read-only.
func protectedGit(root string) []string {
	_ = os.Mkdir(filepath.Join(root, ".git", "hooks"), 0o755) // fails if it exists or cannot be created
	names := namesOfGit(root)
	if len(names) > 0 && is(filepath.Join(root, ".git"), os.ModeDir) {
		for _, path := range submodules(root, indexes{}) {
			for _, name := range namesOfGit(filepath.Join(root, path)) {
				names = append(names, filepath.Join(path, name))
			}
		}
	}
	return names
}

// namesOfGit does the same as protectedGit, without submodules, and creates nothing.
func namesOfGit(dir string) []string {
	git := filepath.Join(dir, ".git")
	info, err := os.Lstat(git)
	switch {
	case err != nil:
		return nil
	case !info.IsDir():
		return []string{".git"}
	}
	hooks, config, more := filepath.Join(git, "hooks"), filepath.Join(git, "config"), filepath.Join(git, "config.worktree")
	if !is(hooks, os.ModeDir) || !is(config, 0) || usesWorktreeConfig(config) && !is(more, 0) ||
		is(filepath.Join(git, "modules"), os.ModeSymlink) || is(filepath.Join(git, "worktrees"), os.ModeSymlink) {
		return []string{".git"}
	}
	return []string{".git/hooks", ".git/config", ".git/config.worktree", ".git/modules", ".git/worktrees"}
}

// maxModules bounds the part of .gitmodules that is read, in bytes: commands can write it.
const maxModules = 256 << 10

// submodules returns the paths of the repositories that the one of a root refers to.
func submodules(root string, known indexes) (paths []string) {
	paths = slices.Clone(known.of(root).links)
	file, err := openRegular(filepath.Join(root, ".gitmodules"))
	if err != nil {
		return paths
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, maxModules))
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), "=")
		path := filepath.Clean(strings.Trim(strings.TrimSpace(value), `"`))
		if strings.TrimSpace(key) == "path" && filepath.IsLocal(path) && path != "." {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Absent are files that make git read its configuration from elsewhere. They do not exist, so no
// mount can prevent a command from creating them.
type Absent []string

// Absent lists such files of the writable roots and their submodules.
func (r Rules) Absent() Absent { return r.Repositories().Absent(r) }

// Absent returns [Rules.Absent] for repositories that have been examined.
func (f Repositories) Absent(r Rules) (files Absent) {
	dirs := slices.Concat(r.Writable, f.protected)
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		git := filepath.Join(dir, ".git")
		common := filepath.Join(git, "commondir")
		if _, err := os.Lstat(common); is(git, os.ModeDir) && errors.Is(err, fs.ErrNotExist) {
			files = append(files, common)
		}
	}
	return files
}

// Remove removes those files that were created nevertheless, and returns their names.
func (a Absent) Remove() (removed []string) {
	for _, file := range a {
		if os.Remove(file) == nil {
			removed = append(removed, file)
		}
	}
	return removed
}

// is reports whether a path has a type, without following a link.
func is(path string, kind os.FileMode) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == kind
}

// usesWorktreeConfig reports whether git may read config.worktree. It returns true even if the
// words are only in a comment.
func usesWorktreeConfig(config string) bool {
	text, err := os.ReadFile(config)
	return err != nil || bytes.Contains(bytes.ToLower(text), []byte("worktreeconfig"))
}
