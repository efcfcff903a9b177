package worktree_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/worktree"
)

// withoutUpdateRef returns a git that cannot write refs.
func withoutUpdateRef(t *testing.T) string {
	program := filepath.Join(t.TempDir(), "git")
	script := "#!/bin/sh\nfor word; do test \"$word\" != update-ref || { echo no update-ref >&2; exit 1; }; done\nexec git \"$@\"\n"
	require.NoError(t, os.WriteFile(program, []byte(script), 0o755))
	return program
}

// TestKeepRunsGitOnlyIfItMust requires that a new ref costs no process of git, and that git reads it.
func TestKeepRunsGitOnlyIfItMust(t *testing.T) {
	program := withoutUpdateRef(t) // while no other test starts processes, which would keep it open
	for name, test := range map[string]struct {
		args   []string
		before func(w *world)
		git    bool
	}{
		"a repository": {},
		"SHA-256":      {args: []string{"--object-format=sha256"}},
		"folders were removed": {before: func(w *world) {
			w.run("update-ref", "refs/appserver/thread/turn", "HEAD")
			w.run("update-ref", "-d", "refs/appserver/thread/turn")
		}},
		"a packed ref": {before: func(w *world) {
			w.run("update-ref", "refs/appserver/thread/turn", "HEAD")
			w.run("pack-refs", "--all")
		}},
		"the ref is there":    {before: func(w *world) { w.run("update-ref", "refs/appserver/thread/turn", "HEAD") }, git: true},
		"refs in other files": {before: func(w *world) { w.run("config", "extensions.refStorage", "other") }, git: true},
		"shared with a group": {args: []string{"--shared=group"}, git: true},
		"the ref is locked":   {before: func(w *world) { w.put(".git/refs/appserver/thread/turn.lock", "") }, git: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := mixed(t, test.args...)
			if test.before != nil {
				test.before(w)
			}
			tree := w.openWith(worktree.Options{Git: program})
			object := w.capture(tree)
			err := tree.Keep(t.Context(), "thread", "turn", object)
			if test.git {
				require.ErrorContains(t, err, "no update-ref")
				return
			}
			require.NoError(t, err)
			require.Equal(t, object+"\n", w.run("rev-parse", "refs/appserver/thread/turn^{tree}"))
			require.NoFileExists(t, w.path(".git/refs/appserver/thread/turn.lock"))
			w.run("fsck", "--strict")
			require.NoError(t, tree.Forget(t.Context(), "thread", []string{"none"}))
		})
	}
}

// TestRefsOfOneCaptureShareAFile requires that a ref of the capture of the last ref is a link to it, and that each
// ref keeps its capture if git changes or removes another one.
func TestRefsOfOneCaptureShareAFile(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	tree := w.open()
	object := w.capture(tree)
	keep := func(thread string) os.FileInfo {
		require.NoError(t, tree.Keep(t.Context(), thread, "turn", object))
		require.Equal(t, object+"\n", w.run("rev-parse", "refs/appserver/"+thread+"/turn^{tree}"))
		info, err := os.Stat(w.path(".git/refs/appserver/" + thread + "/turn"))
		require.NoError(t, err)
		return info
	}
	one, two := keep("one"), keep("two")
	require.True(t, os.SameFile(one, two))
	w.run("update-ref", "refs/appserver/one/turn", "HEAD")
	require.Equal(t, object+"\n", w.run("rev-parse", "refs/appserver/two/turn^{tree}"))
	three, four := keep("three"), keep("four")
	require.False(t, os.SameFile(one, three))
	require.True(t, os.SameFile(three, four))
	require.NoError(t, tree.Forget(t.Context(), "three", nil))
	keep("five")
	w.run("pack-refs", "--all")
	keep("six")
	w.run("fsck", "--strict")
}
