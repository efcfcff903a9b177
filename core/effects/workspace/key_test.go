package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/workspace"
)

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// repositoryWithWorktree returns a repository with a commit, and a linked worktree of it.
func repositoryWithWorktree(t *testing.T, bare bool) (repo, linked string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	repo, linked = filepath.Join(root, "repo"), filepath.Join(root, "linked")
	require.NoError(t, os.Mkdir(repo, 0o755))
	gitIn(t, repo, "init", "-q")
	gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "x")
	if bare {
		gitIn(t, root, "clone", "-q", "--bare", repo, "bare.git")
		repo = filepath.Join(root, "bare.git")
	}
	gitIn(t, repo, "worktree", "add", "-q", "-b", "other", linked)
	return repo, linked
}

func TestRepositoryKey(t *testing.T) {
	t.Parallel()
	repo, linked := repositoryWithWorktree(t, false)
	sub := filepath.Join(repo, "a", "b")
	require.NoError(t, os.MkdirAll(sub, 0o755))
	link := filepath.Join(filepath.Dir(repo), "link")
	require.NoError(t, os.Symlink(sub, link))
	for _, dir := range []string{repo, sub, link, linked, repo + "/a/../"} {
		require.Equal(t, repo, workspace.RepositoryKey(dir), dir)
	}
	bare, ofBare := repositoryWithWorktree(t, true)
	require.Equal(t, bare, workspace.RepositoryKey(ofBare))
	outside, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.Equal(t, outside, workspace.RepositoryKey(outside))
	require.Equal(t, outside+"/gone", workspace.RepositoryKey(outside+"/gone"))
}

// TestForgedWorktreesHaveTheirOwnKey: a folder that says to be a worktree of a repository that
// knows nothing of it is not given what is remembered there.
func TestForgedWorktreesHaveTheirOwnKey(t *testing.T) {
	t.Parallel()
	repo, linked := repositoryWithWorktree(t, false)
	forged := filepath.Join(filepath.Dir(repo), "forged")
	require.NoError(t, os.Mkdir(forged, 0o755))
	pointer, err := os.ReadFile(filepath.Join(linked, ".git"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(forged, ".git"), pointer, 0o644))
	require.Equal(t, forged, workspace.RepositoryKey(forged), "a copy of the file of another worktree")

	own := filepath.Join(forged, "own")
	require.NoError(t, os.Mkdir(own, 0o755))
	gitIn(t, own, "init", "-q")
	require.NoError(t, os.WriteFile(filepath.Join(own, ".git", "commondir"), []byte(filepath.Join(repo, ".git")+"\n"),
		0o644))
	require.Equal(t, own, workspace.RepositoryKey(own), "a commondir that leads elsewhere")
}
