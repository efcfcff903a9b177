package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/workspace"
)

// TestMergeBaseRunsNothing has a repository whose configuration names a program that fetches
// what is missing, and a branch that is.
func TestMergeBaseRunsNothing(t *testing.T) {
	dir := t.TempDir()
	trace, program := filepath.Join(dir, "trace"), filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch "+trace+"\nexit 1\n"), 0o755))
	git := func(args ...string) error {
		return exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e"}, args...)...).Run()
	}
	for _, args := range [][]string{
		{"init"}, {"commit", "--allow-empty", "-m", "one"}, {"config", "core.repositoryformatversion", "1"},
		{"config", "extensions.partialClone", "o"},
		{"config", "remote.o.url", dir}, {"config", "remote.o.promisor", "true"}, {"config", "remote.o.uploadpack", program},
	} {
		require.NoError(t, git(args...), args)
	}
	missing := strings.Repeat("12", 20)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "refs", "heads", "gone"), []byte(missing+"\n"), 0o644))
	require.Error(t, git("rev-parse", "--verify", "gone^{commit}"))
	require.FileExists(t, trace, "git itself runs it")
	require.NoError(t, os.Remove(trace))
	require.Empty(t, workspace.MergeBase(t.Context(), dir, "gone"))
	require.NoFileExists(t, trace)
}

// TestMergeBase has a branch, its upstream that went on, and names that are none.
func TestMergeBase(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git",
			append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	base := func(branch string) string { return workspace.MergeBase(t.Context(), dir, branch) }
	require.Empty(t, base("main"), "no repository")
	git("init")
	require.Empty(t, base("main"), "no commit")
	git("commit", "--allow-empty", "-m", "one")
	one := git("rev-parse", "HEAD")
	git("checkout", "-b", "work")
	git("commit", "--allow-empty", "-m", "two")
	require.Equal(t, one, base("main"))

	two := git("rev-parse", "HEAD")
	git("branch", "next")
	git("branch", "--set-upstream-to", "next", "main")
	require.Equal(t, two, base("main"), "the upstream has more")
	git("update-ref", "refs/heads/next", one)
	git("update-ref", "refs/heads/main", two)
	require.Equal(t, two, base("main"), "the branch has more")

	for _, name := range []string{"", "absent", "--all", "HEAD\nHEAD", "..", filepath.Join(dir, "x")} {
		require.Empty(t, base(name), "%q", name)
	}
}
