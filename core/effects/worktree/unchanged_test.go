//go:build unix

package worktree_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"appserver/core/effects/worktree"
)

// settle captures until the worktree knows its last capture.
func settle(t *testing.T, tree *worktree.Tree, root string) (object string) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		object, err = tree.Capture(context.Background())
		require.NoError(t, err)
		return tree.Unchanged(context.Background(), root) == object
	}, 20*time.Second, 20*time.Millisecond)
	return object
}

// TestUnchangedNoticesEveryChange expects a change of any file that a capture depends on to be noticed.
func TestUnchangedNoticesEveryChange(t *testing.T) {
	for name, change := range map[string]func(*world){
		"content of the same length and time": func(w *world) {
			var st unix.Stat_t
			require.NoError(t, unix.Stat(w.path("sub/dir/deep.txt"), &st))
			w.put("sub/dir/deep.txt", "DEEP\n")
			require.NoError(t, os.Chtimes(w.path("sub/dir/deep.txt"), time.Time{}, time.Unix(st.Mtim.Unix())))
		},
		"a new file":             func(w *world) { w.put("sub/new", "new\n") },
		"a removed file":         func(w *world) { w.remove("committed.txt") },
		"an executable bit":      func(w *world) { require.NoError(t, os.Chmod(w.path("data.bin"), 0o755)) },
		"patterns of a folder":   func(w *world) { w.put("sub/.gitignore", "new\n") },
		"patterns of git":        func(w *world) { w.put(".git/info/exclude", "untracked.txt\n") },
		"patterns of the user":   func(w *world) { w.put(w.user+"/.config/git/ignore", "untracked.txt\n") },
		"settings of the user":   func(w *world) { w.put(w.user+"/.gitconfig", settings+"[core]\nexcludesFile = ~/mine\n") },
		"a tracked ignored file": func(w *world) { w.run("add", "-f", "debug.log") },
		"another repository":     func(w *world) { w.runIn(w.path("sub"), "init", "-q") },
	} {
		t.Run(name, func(t *testing.T) {
			w := mixed(t)
			w.ownSettings()
			w.put(".git/info/exclude", "other\n")
			tree := w.open()
			settle(t, tree, w.path("sub"))
			change(w)
			require.Empty(t, tree.Unchanged(context.Background(), w.path("sub")))
		})
	}
}

// TestUnchangedNeedsTheObject expects a capture that git has removed to be made again.
func TestUnchangedNeedsTheObject(t *testing.T) {
	w := mixed(t)
	tree := w.open()
	object := settle(t, tree, w.root)
	w.run("prune", "--expire=now")
	require.Empty(t, tree.Unchanged(context.Background(), w.root))
	again, err := tree.Capture(context.Background())
	require.NoError(t, err)
	require.Equal(t, object, again)
	w.run("cat-file", "-e", object)
}
