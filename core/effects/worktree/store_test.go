package worktree_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/worktree"
)

func TestOpenFails(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := mixed(t)
	_, err := worktree.Open(ctx, w.path("none"), worktree.Options{Home: w.home})
	require.ErrorIs(t, err, fs.ErrNotExist)
	w.put(w.home, "a file")
	_, err = worktree.Open(ctx, w.root, worktree.Options{Home: w.home})
	require.Error(t, err)
}

// The same folder may be another repository the next time.
func TestAnotherRepository(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	w.capture(w.open())
	w.remove(".git")
	w.run("init", "-q", "--object-format=sha256")
	tree := w.open()
	object := w.capture(tree)
	require.Len(t, object, 64)
	require.NoError(t, tree.Keep(context.Background(), "thread", "turn", object))
	w.run("fsck", "--strict")
	w.remove(".git")
	require.Len(t, w.capture(w.open()), 40, "a store of our own")
	w.run("init", "-q")
	require.Equal(t, "new\n", w.run("cat-file", "-p", w.capture(w.open())+":untracked.txt"))
}

// TestSharedRepository requires that other users of a shared repository can write into the folders of
// objects that we create.
func TestSharedRepository(t *testing.T) {
	t.Parallel()
	w := repository(t, "--shared=group")
	w.put("a.txt", "a\n")
	w.capture(w.open())
	folders := 0
	require.NoError(t, filepath.WalkDir(w.path(".git/objects"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && len(d.Name()) == 2 {
			info, err := d.Info()
			require.NoError(t, err)
			require.NotZero(t, info.Mode()&0o020, name)
			folders++
		}
		return err
	}))
	require.NotZero(t, folders)
}

// Objects that another repository lends are read, and not stored again.
func TestAlternates(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	w.commit()
	other := *w
	other.root = w.root + "-clone"
	w.runIn(filepath.Dir(w.root), "clone", "-q", "--shared", w.root, other.root)
	tree := other.open()
	before := other.capture(tree)
	require.True(t, strings.HasPrefix(other.run("count-objects"), "0 objects"))
	other.put("committed.txt", "changed\n")
	changes := other.changes(tree, before, other.capture(tree))
	_, err := tree.Restore(context.Background(), changes, false)
	require.NoError(t, err)
	require.Equal(t, before, other.capture(tree))
}

// A file that has only been touched is read once.
func TestTouchedFiles(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	tree := w.open()
	before := w.capture(tree)
	index, err := filepath.Glob(filepath.Join(w.home, "*", "git", "index"))
	require.NoError(t, err)
	content, err := os.ReadFile(w.path("committed.txt"))
	require.NoError(t, err)
	w.put("committed.txt", string(content))
	require.Equal(t, before, w.capture(tree))
	seen, err := os.ReadFile(index[0])
	require.NoError(t, err)
	require.Equal(t, before, w.capture(tree))
	again, err := os.ReadFile(index[0])
	require.NoError(t, err)
	require.Equal(t, seen, again)
}

// Two changes of one size within a moment are two.
func TestChangesOfOneSize(t *testing.T) {
	t.Parallel()
	w := repository(t)
	tree := w.open()
	seen := map[string]bool{}
	for _, content := range []string{"a\n", "b\n", "c\n", "d\n", "e\n"} {
		w.put("a.txt", content)
		object := w.capture(tree)
		require.Equal(t, content, w.run("cat-file", "-p", object+":a.txt"))
		seen[object] = true
	}
	require.Len(t, seen, 5)
}

func TestTwoHomes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := mixed(t)
	other := *w
	other.home += "-other"
	one, two := w.open(), other.open()
	before := w.capture(one)
	require.Equal(t, before, other.capture(two))
	require.NoError(t, one.Keep(ctx, "thread", "turn", before))
	w.put("committed.txt", "changed\n")
	changes := other.changes(two, before, other.capture(two))
	_, err := two.Restore(ctx, changes, false)
	require.NoError(t, err)
	require.Equal(t, before, w.capture(one))
	require.NoError(t, two.Forget(ctx, "thread", []string{"turn"}))
	require.Empty(t, w.run("for-each-ref", "refs/appserver"))
}
