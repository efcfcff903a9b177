package worktree

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// planned returns a restore of three files that is planned, but not done.
func planned(t *testing.T) (*Tree, *locked, []*step) {
	t.Helper()
	ctx := context.Background()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	root := filepath.Join(top, "work")
	require.NoError(t, os.Mkdir(root, 0o755))
	tree, err := Open(ctx, root, Options{Home: filepath.Join(top, "home", "checkpoints")})
	require.NoError(t, err)
	write(t, root, "changed.txt", "before\n")
	write(t, root, "removed/file.txt", "before\n")
	before, err := tree.Capture(ctx)
	require.NoError(t, err)
	write(t, root, "changed.txt", "after\n")
	require.NoError(t, os.RemoveAll(filepath.Join(root, "removed")))
	write(t, root, "added.txt", "after\n")
	after, err := tree.Capture(ctx)
	require.NoError(t, err)
	changes, err := tree.Changes(ctx, before, after)
	require.NoError(t, err)
	l, err := tree.lock(ctx)
	require.NoError(t, err)
	t.Cleanup(l.close)
	steps, err := tree.plan(changes)
	require.NoError(t, err)
	require.Len(t, steps, 3)
	return tree, l, steps
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	full := filepath.Join(root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(t, os.WriteFile(full, []byte(content), 0o644))
}

// TestChangesMeanwhile requires that files written between the check and the renames are not lost.
func TestChangesMeanwhile(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"changed.txt":      "by the user, meanwhile\n",
		"added.txt":        "by the user, meanwhile\n",
		"removed/file.txt": "by the user, meanwhile\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, l, steps := planned(t)
			write(t, tree.root, name, content)
			err := l.apply(context.Background(), steps)
			var conflict *ConflictError
			require.ErrorAs(t, err, &conflict)
			require.Equal(t, []string{name}, conflict.Paths)
			want := map[string]string{"changed.txt": "after\n", "added.txt": "after\n", name: content}
			for other, content := range want {
				got, err := os.ReadFile(filepath.Join(tree.root, other))
				require.NoError(t, err)
				require.Equal(t, content, string(got), other)
			}
			left, err := os.ReadDir(tree.root)
			require.NoError(t, err)
			names := map[string]bool{"changed.txt": true, "added.txt": true, filepath.Dir(name): name == "removed/file.txt"}
			for _, e := range left {
				require.True(t, names[e.Name()], "%s is left", e.Name())
			}
		})
	}
}

// A link that takes a folder's place meanwhile leads nowhere.
func TestLinksMeanwhile(t *testing.T) {
	t.Parallel()
	tree, l, steps := planned(t)
	out := filepath.Join(filepath.Dir(tree.root), "out")
	require.NoError(t, os.Mkdir(out, 0o755))
	require.NoError(t, os.Symlink(out, filepath.Join(tree.root, "removed")))
	require.Error(t, l.apply(context.Background(), steps))
	inside, err := os.ReadDir(out)
	require.NoError(t, err)
	require.Empty(t, inside)
	content, err := os.ReadFile(filepath.Join(tree.root, "changed.txt"))
	require.NoError(t, err)
	require.Equal(t, "after\n", string(content))
}

// TestUndoFails requires that the error names the folder of the missing files if a revert fails, and
// that the folder stays.
func TestUndoFails(t *testing.T) {
	t.Parallel()
	tree, l, steps := planned(t)
	s, err := l.stage()
	require.NoError(t, err)
	s.steps = steps
	require.NoError(t, s.writeAll(context.Background()))
	require.NoError(t, s.swap())
	require.NoFileExists(t, filepath.Join(tree.root, "added.txt"))
	require.NoError(t, os.MkdirAll(filepath.Join(tree.root, "added.txt", "by the user"), 0o755))
	err = s.undo()
	require.ErrorContains(t, err, `"added.txt", now old-`)
	s.keep = true
	s.release()
	kept, err := os.ReadFile(filepath.Join(s.dir, "old-0"))
	require.NoError(t, err)
	require.Equal(t, "after\n", string(kept))
	content, err := os.ReadFile(filepath.Join(tree.root, "changed.txt"))
	require.NoError(t, err)
	require.Equal(t, "after\n", string(content), "the others are put back")
}
