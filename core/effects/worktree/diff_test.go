package worktree_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/worktree"
	"appserver/test/posix"
	"appserver/test/sample"
)

// plainUser makes a command run as the user nobody.
func plainUser(cmd *exec.Cmd) {
	cmd.SysProcAttr = posix.As(65534)
}

func TestDiff(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := mixed(t)
	w.put("to-move.txt", "a file\nof some\nlines\nthat moves\n")
	w.put(".gitattributes", "*.txt -diff\n")
	tree := w.open()
	before := w.capture(tree)
	w.put("committed.txt", "one\nthree\nfour\n")
	w.put("data.bin", "\x00\x05")
	w.put("new.txt", "no line end")
	w.remove("staged.txt")
	require.NoError(t, os.Chmod(w.path("run.sh"), 0o644))
	w.remove("to-move.txt")
	w.put("moved/to.txt", "a file\nof some\nlines\nthat moved\n")
	d, err := tree.Diff(ctx, w.changes(tree, before, w.capture(tree)))
	require.NoError(t, err)
	require.Equal(t, []worktree.FileStat{
		{Path: "committed.txt", Kind: worktree.Modified, Additions: 2, Deletions: 1},
		{Path: "data.bin", Kind: worktree.Modified, Binary: true},
		{Path: "moved/to.txt", OldPath: "to-move.txt", Kind: worktree.Renamed, Additions: 1, Deletions: 1},
		{Path: "new.txt", Kind: worktree.Created, Additions: 1},
		{Path: "run.sh", Kind: worktree.Modified},
		{Path: "staged.txt", Kind: worktree.Deleted, Deletions: 1},
	}, d.Files)
	require.False(t, d.Short)
	for _, part := range []string{
		"diff --git a/committed.txt b/committed.txt\n", "-two\n+three\n+four\n", "GIT binary patch\n",
		"rename from to-move.txt\nrename to moved/to.txt\n", "\\ No newline at end of file\n",
		"old mode 100755\nnew mode 100644\n",
	} {
		require.Contains(t, d.Text, part)
	}
	none, err := tree.Diff(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestDiffIsCut(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	ctx := context.Background()
	w := repository(t)
	tree := w.open()
	before := w.capture(tree)
	w.put("a.txt", "first\n")
	w.put("lines.txt", strings.Repeat(strings.Repeat("a", 1023)+"\n", 17<<10))
	d, err := tree.Diff(ctx, w.changes(tree, before, w.capture(tree)))
	require.NoError(t, err)
	require.True(t, d.Short)
	require.True(t, strings.HasSuffix(d.Text, "+first\n"), "the text has only whole files")
	require.Len(t, d.Files, 2, "the list has all files")
}

// TestDiffOmitsLargeBinaries has a file whose binary patch is longer than the limit. Only text is
// then in the diff.
func TestDiffOmitsLargeBinaries(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test-all runs it")
	}
	t.Parallel()
	w := repository(t)
	tree := w.open()
	before := w.capture(tree)
	noise := make([]byte, 15<<20)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(noise)
	w.put("noise.bin", string(noise))
	w.put("small.txt", "small\n")
	d, err := tree.Diff(context.Background(), w.changes(tree, before, w.capture(tree)))
	require.NoError(t, err)
	require.True(t, d.Short)
	require.Contains(t, d.Text, "Binary files /dev/null and b/noise.bin differ\n")
	require.Contains(t, d.Text, "+small\n")
}

// TestTextApplies has git apply the diff to what was before.
func TestTextApplies(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	tree := w.open()
	before, former := w.capture(tree), w.copy("before")
	w.changeAll()
	changes := w.changes(tree, before, w.capture(tree))
	d, err := tree.Diff(context.Background(), changes)
	require.NoError(t, err)
	w.apply(d.Text, former)
	now := w.files(w.root)
	now["debug.log"] = "- ignored\n"
	require.Equal(t, now, w.files(former))
}

// copy returns a copy of the worktree's files beside it, without empty folders, which git
// apply would not replace.
func (w *world) copy(name string) string {
	w.t.Helper()
	to := filepath.Join(filepath.Dir(w.root), name)
	require.NoError(w.t, os.RemoveAll(to))
	require.NoError(w.t, exec.Command("cp", "-a", w.root, to).Run())
	require.NoError(w.t, os.RemoveAll(filepath.Join(to, ".git")))
	require.NoError(w.t, exec.Command("find", to, "-mindepth", "1", "-type", "d", "-empty", "-delete").Run())
	return to
}

func (w *world) apply(text, dir string) {
	w.t.Helper()
	if text == "" {
		return
	}
	file := filepath.Join(filepath.Dir(w.root), fmt.Sprintf("%s.diff", filepath.Base(dir)))
	w.put(file, text)
	w.runIn(dir, "apply", "--check", file)
	w.runIn(dir, "apply", "--whitespace=nowarn", file)
}
