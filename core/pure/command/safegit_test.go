package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// git runs git in a directory, without the user's configuration.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = gitEnv(dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%q: %s", args, out)
	return string(out)
}

func gitEnv(dir string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(dir), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
	}
}

// repository creates a repository with two commits, a change and an untracked file.
func repository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repository")
	require.NoError(t, os.Mkdir(dir, 0o755))
	git(t, dir, "init", "-q")
	for _, content := range []string{"one\n", "two\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte(content), 0o644))
		git(t, dir, "add", "a")
		git(t, dir, "commit", "-q", "-m", content)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("three\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), []byte("new\n"), 0o644))
	return dir
}

// TestSafeGitCommandsChangeNothing ignores the index, which git refreshes.
func TestSafeGitCommandsChangeNothing(t *testing.T) {
	needsUnix(t)
	dir := repository(t)
	state := func() map[string]string {
		files := snapshot(t, dir)
		delete(files, filepath.Join(dir, ".git", "index"))
		return files
	}
	before := state()
	ran := 0
	for _, script := range append([]string{
		"git status", "git status -uall --ignored --porcelain=v2 -z", "git diff", "git diff --cached --name-status HEAD^ --",
		"git log -p --graph --all --decorate", "git log -S two --follow -- a", "git log --grep=one --reverse --author a",
		"git log --pretty=oneline --abbrev-commit -n1", "git show --stat", "git show -s --format='%h %an' HEAD^",
		"git branch -a --no-color", "git branch --list 'm*' -v", "git rev-parse --show-toplevel --git-dir",
		"git rev-parse --verify --short HEAD", "git ls-files -s -z", "git ls-files --others --exclude-standard",
	}, safeScripts...) {
		if !strings.HasPrefix(script, "git ") || strings.Contains(script, "~2") || strings.Contains(script, "show HEAD:") {
			continue
		}
		require.True(t, Safe(script), script)
		cmd := exec.Command("/bin/bash", "-c", script)
		cmd.Dir, cmd.Env = dir, gitEnv(dir)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", script, out)
		require.Equal(t, before, state(), script)
		ran++
	}
	require.Greater(t, ran, 20)
}

// TestUnsafeGitCommandsWrite checks that rejected commands do change something.
func TestUnsafeGitCommandsWrite(t *testing.T) {
	needsUnix(t)
	for _, script := range []string{
		"git branch a", "git diff --output=c", "git branch -v a", "git branch -m a", "git log --output=c",
	} {
		require.False(t, Safe(script), script)
		dir := repository(t)
		before := snapshot(t, dir)
		git(t, dir, strings.Fields(script)[1:]...)
		require.NotEqual(t, before, snapshot(t, dir), script)
	}
}
