package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/workspace"
)

const enough = 32768

// tree is a home folder, and a repository with a folder a/b in it.
func tree(t *testing.T) (home, root, cwd string) {
	t.Helper()
	home, root = t.TempDir(), t.TempDir()
	cwd = filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(cwd, 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(root, ".git"), 0o700))
	return home, root, cwd
}

func TestInstructionsFromHomeThenFromTheRootDown(t *testing.T) {
	home, root, cwd := tree(t)
	want := []core.InstructionFile{
		{Path: put(t, home, "AGENTS.md", "mine\n"), Text: "mine\n"},
		{Path: put(t, root, "AGENTS.md", "root\n"), Text: "root\n"},
		{Path: put(t, cwd, "AGENTS.md", "here\n"), Text: "here\n"},
	}
	put(t, filepath.Dir(root), "AGENTS.md", "above the repository")
	put(t, filepath.Join(cwd, "c"), "AGENTS.md", "below")
	put(t, filepath.Join(root, "a"), "AGENTS.md", " \n\t\n")
	files, warnings := workspace.Instructions(home, cwd, enough)
	require.Empty(t, warnings)
	require.Equal(t, want, files)

	files, _ = workspace.Instructions("", cwd, enough)
	require.Equal(t, want[1:], files)
	files, _ = workspace.Instructions(root, root, enough)
	require.Equal(t, want[1:2], files, "home inside the repository is not read twice")
}

func TestInstructionsOfAWorktree(t *testing.T) {
	home, root, _ := tree(t)
	put(t, root, "AGENTS.md", "the repository around it")
	worktree := filepath.Join(root, "worktree")
	put(t, worktree, ".git", "gitdir: /elsewhere\n")
	path := put(t, worktree, "AGENTS.md", "the worktree")
	cwd := filepath.Join(worktree, "sub")
	require.NoError(t, os.Mkdir(cwd, 0o700))
	files, _ := workspace.Instructions(home, cwd, enough)
	require.Equal(t, []core.InstructionFile{{Path: path, Text: "the worktree"}}, files)
}

func TestInstructionsOutsideARepository(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	put(t, dir, "AGENTS.md", "parent")
	path := put(t, dir, "sub/AGENTS.md", "here")
	files, warnings := workspace.Instructions(home, filepath.Join(dir, "sub"), enough)
	require.Equal(t, []core.InstructionFile{{Path: path, Text: "here"}}, files)
	require.Empty(t, warnings)
}

func TestInstructionsOverrideTakesThePlace(t *testing.T) {
	home, root, _ := tree(t)
	put(t, root, "AGENTS.md", "usual")
	path := put(t, root, "AGENTS.override.md", "for now")
	files, _ := workspace.Instructions(home, root, enough)
	require.Equal(t, []core.InstructionFile{{Path: path, Text: "for now"}}, files)
}

func TestInstructionsAreBoundedTogether(t *testing.T) {
	home, root, cwd := tree(t)
	put(t, home, "AGENTS.md", strings.Repeat("a", 60))
	put(t, root, "AGENTS.md", strings.Repeat("b", 60))
	left := put(t, cwd, "AGENTS.md", "c")
	files, warnings := workspace.Instructions(home, cwd, 100)
	require.Len(t, files, 2)
	require.Equal(t, strings.Repeat("a", 60), files[0].Text)
	require.Equal(t, strings.Repeat("b", 40)+"\n\n[cut here: all instructions together are limited to 100 bytes]",
		files[1].Text)
	require.Equal(t, []string{"instructions " + left + " are left out: project_doc_max_bytes of 100 is used up"}, warnings)

	files, warnings = workspace.Instructions(home, cwd, 121)
	require.Len(t, files, 3)
	require.Empty(t, warnings, "an exact fit is no cut")

	files, warnings = workspace.Instructions(home, cwd, 0)
	require.Empty(t, files)
	require.Empty(t, warnings)
}

func TestInstructionsAreCutBetweenCharacters(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "AGENTS.md", strings.Repeat("語", 10))
	for limit := 3; limit < 30; limit++ {
		files, _ := workspace.Instructions("", dir, limit)
		text, _, cut := strings.Cut(files[0].Text, "\n\n[cut here")
		require.True(t, cut)
		require.Equal(t, strings.Repeat("語", limit/3), text)
	}
}

func TestInstructionsThatAreNotUTF8(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "AGENTS.md", "\xef\xbb\xbfa\xff\xfeb")
	files, warnings := workspace.Instructions("", dir, enough)
	require.Empty(t, warnings)
	require.Equal(t, "a\ufffdb", files[0].Text)

	put(t, dir, "AGENTS.md", strings.Repeat("\x80", 50))
	files, _ = workspace.Instructions("", dir, 10)
	require.True(t, utf8.ValidString(files[0].Text))
}

func TestInstructionsThatCannotBeReadWarn(t *testing.T) {
	home, root, cwd := tree(t)
	require.NoError(t, os.Mkdir(filepath.Join(home, "AGENTS.md"), 0o700))
	fifo := pipe(t, root, "AGENTS.md")
	link(t, "AGENTS.md", filepath.Join(cwd, "AGENTS.md"))
	good := put(t, filepath.Dir(cwd), "AGENTS.md", "good")
	files, warnings := workspace.Instructions(home, cwd, enough)
	require.Equal(t, []core.InstructionFile{{Path: good, Text: "good"}}, files)
	require.Equal(t, []string{
		"instructions " + filepath.Join(home, "AGENTS.md") + " are left out: not a regular file",
		"instructions " + fifo + " are left out: not a regular file",
		"instructions " + filepath.Join(cwd, "AGENTS.md") + " are left out: too many levels of symbolic links",
	}, warnings)
}

func TestInstructionsThroughALink(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "CLAUDE.md", "shared")
	link(t, "CLAUDE.md", filepath.Join(dir, "AGENTS.md"))
	files, _ := workspace.Instructions("", dir, enough)
	require.Equal(t, []core.InstructionFile{{Path: filepath.Join(dir, "AGENTS.md"), Text: "shared"}}, files)
}
