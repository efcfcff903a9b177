package worktree_test

import (
	"context"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/effects/worktree"
	"appserver/test/sample"
)

// TestRandomTurns does random things to a worktree. Each turn is captured, its diff
// applied to what was before, and taken back.
func TestRandomTurns(t *testing.T) {
	t.Parallel()
	w := repository(t)
	tree := w.open()
	sample.Check(t, func(r *rapid.T) {
		w.empty()
		w.run("init", "-q", w.root)
		w.edit(r, "first")
		files := w.files(w.root)
		before, former := w.capture(tree), w.copy("before")
		w.edit(r, "then")
		changed := w.files(w.root)
		after := w.capture(tree)
		changes := w.changes(tree, before, after)
		require.Equal(r, differing(files, changed), paths(changes))

		d, err := tree.Diff(context.Background(), changes)
		require.NoError(r, err)
		if !leadsThroughLink(changes) {
			w.apply(d.Text, former)
			require.Equal(r, changed, w.files(former))
		}

		_, err = tree.Restore(context.Background(), changes, false)
		require.NoError(r, err)
		require.Equal(r, files, w.files(w.root))
		require.Equal(r, before, w.capture(tree))
		_, err = tree.Restore(context.Background(), w.changes(tree, after, before), false)
		require.NoError(r, err)
		require.Equal(r, changed, w.files(w.root))
	})
}

// leadsThroughLink reports whether a folder becomes a link or a link a folder. For these, git apply
// reports files beyond a symbolic link.
func leadsThroughLink(changes []worktree.Change) bool {
	return slices.ContainsFunc(changes, func(link worktree.Change) bool {
		return (link.Before.Mode == worktree.ModeLink || link.After.Mode == worktree.ModeLink) &&
			slices.ContainsFunc(changes,
				func(inner worktree.Change) bool { return strings.HasPrefix(inner.Path, link.Path+"/") })
	})
}

// edit writes, links, removes and moves files whose names are in each other's way.
func (w *world) edit(r *rapid.T, label string) {
	names := rapid.SampledFrom([]string{"a", "b", "a/b", "a/c", "b/a/c", "c d", ":e", "é\n", "-f", "\xff", "*", "b/g.txt"})
	// git apply follows links when it looks for what is in the way, so none leads anywhere.
	targets := rapid.SampledFrom([]string{"nowhere", "no\nwhere", "/no/where"})
	contents := rapid.SampledFrom([]string{"", "a\n", "b", "a\nb\nc\nd\n", "a\nb\nc\ne\n", "\r\n", "\x00b", "a\n\x00"})
	for range rapid.IntRange(0, 8).Draw(r, label) {
		name := names.Draw(r, "name")
		switch rapid.IntRange(0, 4).Draw(r, "deed") {
		case 0:
			w.clear(name)
		case 1:
			w.clear(name)
			w.link(targets.Draw(r, "target"), name)
		default:
			w.clear(name)
			w.put(name, contents.Draw(r, "content"))
			if rapid.Bool().Draw(r, "executable") {
				require.NoError(r, os.Chmod(w.path(name), 0o755))
			}
		}
	}
}

// clear removes a file at the path of one of its folders.
func (w *world) clear(name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := os.Lstat(w.path(dir)); err == nil && !info.IsDir() {
			w.remove(dir)
		}
	}
	w.remove(name)
	require.NoError(w.t, os.MkdirAll(path.Dir(w.path(name)), 0o755))
}

func differing(before, after map[string]string) []string {
	names := map[string]bool{}
	for _, one := range []map[string]string{before, after} {
		for name := range one {
			was, had := before[name]
			is, has := after[name]
			if had != has || was != is {
				names[name] = true
			}
		}
	}
	list := slices.Sorted(maps.Keys(names))
	if list == nil {
		return []string{}
	}
	return list
}

// empty removes all that is in the worktree.
func (w *world) empty() {
	entries, err := os.ReadDir(w.root)
	require.NoError(w.t, err)
	for _, e := range entries {
		w.remove(e.Name())
	}
}
