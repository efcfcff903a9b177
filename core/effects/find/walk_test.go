package find_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/find"
	"appserver/test/posix"
)

func TestWalkGivesFilesAndFolders(t *testing.T) {
	root := tree(t, "a.go", "src/b.go", "src/deep/er/c.go", "empty/", ".hidden/d", ".env")
	require.Equal(t, []string{".env", ".hidden/", ".hidden/d", "a.go", "empty/", "src/", "src/b.go", "src/deep/",
		"src/deep/er/", "src/deep/er/c.go"}, walked(t, root))
}

func TestWalkSkipsPathsThatAreNoFiles(t *testing.T) {
	root := tree(t, "a", "nowhere -> gone")
	require.NoError(t, posix.Mkfifo(filepath.Join(root, "fifo"), 0o644))
	require.Equal(t, []string{"a"}, walked(t, root))
}

func TestWalkOfNothing(t *testing.T) {
	root := tree(t, "file")
	require.Empty(t, walked(t, filepath.Join(root, "none")))
	require.Empty(t, walked(t, filepath.Join(root, "file")))
	require.Empty(t, walked(t, ""))
}

func TestWalkPassesOverWhatItCannotRead(t *testing.T) {
	if os.Getuid() == 0 {
		// Root reads everything; a folder that goes while it is walked does as well.
		root := tree(t, "a/b", "c")
		f := find.New()
		f.Walk(context.Background(), root, func([]find.Path) { _ = os.RemoveAll(filepath.Join(root, "a")) })
		require.Equal(t, []string{"c"}, walked(t, root))
		return
	}
	root := tree(t, "closed/file", "open/file")
	require.NoError(t, os.Chmod(filepath.Join(root, "closed"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, "closed"), 0o755) })
	require.Equal(t, []string{"closed/", "open/", "open/file"}, walked(t, root))
}

func TestWalkFollowsLinks(t *testing.T) {
	outside := tree(t, "in/file", "one")
	root := tree(t, "real/file")
	grow(t, root, "file -> "+filepath.Join(outside, "one"), "folder -> "+filepath.Join(outside, "in"), "same -> real")
	require.Equal(t, []string{"file", "folder/", "folder/file", "real/", "real/file", "same/", "same/file"},
		walked(t, root))
}

func TestWalkDoesNotGoRound(t *testing.T) {
	for name, links := range map[string][]string{
		"itself":         {"a/self -> ."},
		"above":          {"a/b/up -> ../.."},
		"far above":      {"a/up -> /"},
		"each other":     {"a/to -> ../b", "b/to -> ../a"},
		"through a link": {"a/to -> ../b", "b/c/back -> ../../a", "a/file"},
		"a chain":        {"one -> two", "two -> three", "three -> one"},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, append(links, "end")...)
			require.Contains(t, walked(t, root), "end")
			require.Less(t, len(walked(t, root)), 20)
		})
	}
}

func TestWalkByALinkedRoot(t *testing.T) {
	real := tree(t, "src/file", "src/back -> ..")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(real, link))
	require.Equal(t, []string{"src/", "src/file"}, walked(t, link))
}

func TestWalkIsBoundedInDepth(t *testing.T) {
	root := tree(t, strings.Repeat("d/", 300)+"deep", "flat")
	found := walked(t, root)
	require.Contains(t, found, "flat")
	require.NotContains(t, found, strings.Repeat("d/", 300)+"deep")
	require.Greater(t, len(found), 100)
}

func TestWalkEndsWithItsContext(t *testing.T) {
	var entries []string
	for i := range 200 {
		entries = append(entries, fmt.Sprintf("d%d/f", i))
	}
	root := tree(t, entries...)
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	find.New().Walk(ctx, root, func([]find.Path) {
		n++
		cancel()
	})
	require.Equal(t, 1, n, "nothing is given any more")
	find.New().Walk(ctx, root, func([]find.Path) { t.Error("given to nobody") })
}

func TestWalkIsComplete(t *testing.T) {
	var entries []string
	for i := range 40 {
		for k := range 40 {
			entries = append(entries, fmt.Sprintf("d%d/e%d/f", i, k))
		}
	}
	require.Len(t, walked(t, tree(t, entries...)), 40+2*40*40, "however many read at a time")
}

// walkedOwn returns the paths of a walk of what is the repository's own, as they come.
func walkedOwn(root string) (names []string) {
	_ = find.New().WalkOwn(context.Background(), root, func(paths []find.Path) {
		for _, p := range paths {
			if p.Other {
				p.Name += "?"
			}
			names = append(names, p.Name)
		}
	})
	return names
}

func TestWalkOwnEntersNoLinksAndNoOtherRepositories(t *testing.T) {
	outside := tree(t, "in/file", "one")
	root := repository(t, ".gitignore: *.log\n", "b/c", "b/a", "a", "a.log", "module/.git: gitdir: elsewhere\n",
		"module/file")
	grow(t, root, "file -> "+filepath.Join(outside, "one"), "folder -> "+filepath.Join(outside, "in"), "b/up -> ..",
		"ignored.log -> a")
	initialize(t, filepath.Join(root, "nested"))
	grow(t, root, "nested/file")
	want := []string{".gitignore", "a", "b", "file?", "folder?", "module", "nested", "b/a", "b/c", "b/up?"}
	for range 5 {
		require.Equal(t, want, walkedOwn(root), "always in the same order")
	}
}

func TestWalkOwnEntersTheRepositoryThatItBeginsIn(t *testing.T) {
	root := tree(t, "module/.git: gitdir: elsewhere\n", "module/file")
	require.Equal(t, []string{"file"}, walkedOwn(filepath.Join(root, "module")))
}
