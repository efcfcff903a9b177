package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/workspace"
	"appserver/protocol"
)

// git runs the git CLI in dir, without any configuration but the repository's.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// repository returns a repository with a commit on the branch trunk, and the commit.
func repository(t *testing.T) (root, commit string) {
	t.Helper()
	root = t.TempDir()
	git(t, root, "init", "--quiet", "--initial-branch=trunk")
	git(t, root, "commit", "--quiet", "--allow-empty", "--message=one")
	return root, git(t, root, "rev-parse", "HEAD")
}

func requireGit(t *testing.T, dir string, commit, branch, address string) {
	t.Helper()
	want := protocol.StoredGitInfo{}
	for _, m := range []struct {
		to   **string
		text string
	}{{&want.CommitHash, commit}, {&want.Branch, branch}, {&want.RepositoryURL, address}} {
		if m.text != "" {
			*m.to = &m.text
		}
	}
	require.Equal(t, &want, workspace.Git(t.Context(), dir))
}

func TestGitOutsideARepository(t *testing.T) {
	dir := t.TempDir()
	require.Nil(t, workspace.Git(t.Context(), dir))
	require.Nil(t, workspace.Git(t.Context(), filepath.Join(dir, "none")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".git"), 0o700))
	require.Nil(t, workspace.Git(t.Context(), dir), "an empty folder .git is no repository")
}

func TestGitInAFolderOfARepository(t *testing.T) {
	root, commit := repository(t)
	git(t, root, "remote", "add", "origin", "git@example.com:team/project.git")
	sub := filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(sub, 0o700))
	requireGit(t, root, commit, "trunk", "git@example.com:team/project.git")
	requireGit(t, sub, commit, "trunk", "git@example.com:team/project.git")
}

func TestGitBranches(t *testing.T) {
	root, first := repository(t)
	git(t, root, "checkout", "--quiet", "-b", "feature/deep/name")
	git(t, root, "commit", "--quiet", "--allow-empty", "--message=two")
	second := git(t, root, "rev-parse", "HEAD")
	requireGit(t, root, second, "feature/deep/name", "")

	git(t, root, "pack-refs", "--all")
	require.NoFileExists(t, filepath.Join(root, ".git", "refs", "heads", "trunk"))
	requireGit(t, root, second, "feature/deep/name", "")
	git(t, root, "checkout", "--quiet", "trunk")
	requireGit(t, root, first, "trunk", "")

	git(t, root, "commit", "--quiet", "--allow-empty", "--message=three")
	third := git(t, root, "rev-parse", "HEAD")
	requireGit(t, root, third, "trunk", "")

	git(t, root, "checkout", "--quiet", "--detach", "HEAD~1")
	requireGit(t, root, first, "", "")
}

func TestGitWithoutACommit(t *testing.T) {
	root := t.TempDir()
	git(t, root, "init", "--quiet", "--initial-branch=new")
	requireGit(t, root, "", "new", "")
}

func TestGitBranchThatIsAnotherName(t *testing.T) {
	root, commit := repository(t)
	git(t, root, "symbolic-ref", "refs/heads/alias", "refs/heads/trunk")
	git(t, root, "symbolic-ref", "HEAD", "refs/heads/alias")
	requireGit(t, root, commit, "alias", "")

	put(t, root, ".git/refs/heads/loop", "ref: refs/heads/loop\n")
	put(t, root, ".git/HEAD", "ref: refs/heads/loop\n")
	requireGit(t, root, "", "loop", "")
}

func TestGitWorktree(t *testing.T) {
	root, _ := repository(t)
	git(t, root, "remote", "add", "origin", "https://example.com/x.git")
	worktree := filepath.Join(t.TempDir(), "tree")
	git(t, root, "worktree", "add", "--quiet", "-b", "side", worktree)
	git(t, worktree, "commit", "--quiet", "--allow-empty", "--message=side")
	commit := git(t, worktree, "rev-parse", "HEAD")
	requireGit(t, worktree, commit, "side", "https://example.com/x.git")
	git(t, root, "pack-refs", "--all")
	requireGit(t, worktree, commit, "side", "https://example.com/x.git")
}

func TestGitSubmodule(t *testing.T) {
	library, commit := repository(t)
	root, _ := repository(t)
	git(t, root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib")
	requireGit(t, filepath.Join(root, "lib"), commit, "trunk", library)
}

func TestGitSHA256(t *testing.T) {
	root := t.TempDir()
	git(t, root, "init", "--quiet", "--object-format=sha256", "--initial-branch=trunk")
	git(t, root, "commit", "--quiet", "--allow-empty", "--message=one")
	commit := git(t, root, "rev-parse", "HEAD")
	require.Len(t, commit, 64)
	requireGit(t, root, commit, "trunk", "")
}

func TestGitLeavesSecretsOutOfTheAddress(t *testing.T) {
	root, commit := repository(t)
	git(t, root, "remote", "add", "origin", "none")
	for address, want := range map[string]string{
		"https://me:SECRET@example.com/x.git":   "https://example.com/x.git",
		"https://SECRET@example.com/x.git":      "https://example.com/x.git",
		"ssh://git:SECRET@example.com:22/x.git": "ssh://git@example.com:22/x.git",
		"ssh://git@example.com/x.git":           "ssh://git@example.com/x.git",
		"https://me:SEC%RET@example.com/x.git":  "",
		"/srv/git/x.git":                        "/srv/git/x.git",
		"git@example.com:x.git":                 "git@example.com:x.git",
		"file:///srv/x.git":                     "file:///srv/x.git",
	} {
		git(t, root, "remote", "set-url", "origin", address)
		requireGit(t, root, commit, "trunk", want)
	}
}

// Damaged and hostile repositories give less, and hold nothing up.
func TestGitDamaged(t *testing.T) {
	for name, tt := range map[string]struct {
		damage         func(t *testing.T, dir string)
		commit, branch string
	}{
		"empty HEAD":   {func(t *testing.T, dir string) { put(t, dir, "HEAD", "") }, "", ""},
		"garbage HEAD": {func(t *testing.T, dir string) { put(t, dir, "HEAD", strings.Repeat("\xff", 10_000)) }, "", ""},
		"pipe HEAD": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "HEAD")))
			pipe(t, dir, "HEAD")
		}, "", ""},
		"ref outside": {func(t *testing.T, dir string) {
			put(t, dir, "../secret", strings.Repeat("a", 40)+"\n")
			put(t, dir, "HEAD", "ref: refs/heads/../../../secret\n")
		}, "", "../../../secret"},
		"ref is a folder": {func(t *testing.T, dir string) { put(t, dir, "HEAD", "ref: refs/heads\n") }, "", "refs/heads"},
		"torn ref":        {func(t *testing.T, dir string) { put(t, dir, "refs/heads/trunk", "abc\n") }, "", "trunk"},
		"pipe config": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "config")))
			pipe(t, dir, "config")
			put(t, dir, "HEAD", strings.Repeat("b", 40)+"\n")
		}, strings.Repeat("b", 40), ""},
	} {
		t.Run(name, func(t *testing.T) {
			root, _ := repository(t)
			tt.damage(t, filepath.Join(root, ".git"))
			requireGit(t, root, tt.commit, tt.branch, "")
		})
	}
}

func TestGitFileThatLeadsNowhere(t *testing.T) {
	root := t.TempDir()
	for _, text := range []string{"", "gitdir: /nowhere\n", "gitdir: .git\n", "junk"} {
		put(t, root, ".git", text)
		require.Nil(t, workspace.Git(t.Context(), root), "%q", text)
	}
}

// thread/start has 2 ms for everything.
func BenchmarkGit(b *testing.B) {
	here, err := os.Getwd()
	require.NoError(b, err)
	for name, dir := range map[string]string{"repository": here, "outside": b.TempDir()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				workspace.Git(b.Context(), dir)
			}
		})
	}
}
