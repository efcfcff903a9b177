package sandbox

import (
	"os"
	"path/filepath"
)

// protected are the names in a writable root that stay read-only: what makes git run
// programs, whoever calls it later. A repository has a folder for hooks afterwards:
// a name that does not exist could not be protected.
func protected(root string) []string {
	git := filepath.Join(root, ".git")
	info, err := os.Lstat(git)
	switch {
	case err != nil:
		return nil
	case !info.IsDir():
		return []string{".git"}
	}
	_ = os.Mkdir(filepath.Join(git, "hooks"), 0o755) // fails where it exists, or nobody can make it
	return []string{".git/hooks", ".git/config", ".git/config.worktree"}
}
