package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
)

// protected are the names in a writable root that stay read-only: what makes git run
// programs, whoever calls it later. A repository has a folder for hooks afterwards: a
// name that does not exist could not be protected. Where what is protected is not
// there, or is a link, which could be replaced, the whole repository is shut.
func protected(root string) []string {
	git := filepath.Join(root, ".git")
	info, err := os.Lstat(git)
	switch {
	case err != nil:
		return nil
	case !info.IsDir():
		return []string{".git"}
	}
	hooks, config, more := filepath.Join(git, "hooks"), filepath.Join(git, "config"), filepath.Join(git, "config.worktree")
	_ = os.Mkdir(hooks, 0o755) // fails where it exists, or nobody can make it
	if !is(hooks, os.ModeDir) || !is(config, 0) || usesWorktreeConfig(config) && !is(more, 0) {
		return []string{".git"}
	}
	return []string{".git/hooks", ".git/config", ".git/config.worktree"}
}

// is tells whether a path is of a type, and no link to it.
func is(path string, kind os.FileMode) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == kind
}

// usesWorktreeConfig tells whether git looks at config.worktree, to be on the safe
// side also where the words are in a comment.
func usesWorktreeConfig(config string) bool {
	text, err := os.ReadFile(config)
	return err != nil || bytes.Contains(bytes.ToLower(text), []byte("worktreeconfig"))
}
