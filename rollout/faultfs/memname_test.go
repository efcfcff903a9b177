package faultfs_test

import (
	"io/fs"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout/faultfs"
)

// pairs returns the possible contents of two files after a crash.
func pairs(t *testing.T, mem *faultfs.Mem, a, b string) map[[2]string]bool {
	t.Helper()
	seen := map[[2]string]bool{}
	chance := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		clone := mem.CrashClone(chance)
		seen[[2]string{content(t, clone, a), content(t, clone, b)}] = true
	}
	return seen
}

// synced creates a durable file.
func synced(t *testing.T, mem *faultfs.Mem, path, text string) {
	t.Helper()
	f := create(t, mem, path)
	write(t, f, text)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
	require.NoError(t, mem.SyncDir("/d"))
}

func TestALinkIsAnotherNameOfTheSameFile(t *testing.T) {
	mem := faultfs.NewMem("/d")
	synced(t, mem, "/d/f", "a")
	require.NoError(t, mem.Link("/d/f", "/d/g"))
	require.Equal(t, map[[2]string]bool{{"a", ""}: true, {"a", "a"}: true}, pairs(t, mem, "/d/f", "/d/g"),
		"before SyncDir")
	require.NoError(t, mem.SyncDir("/d"))
	write(t, create(t, mem, "/d/g"), "b")
	require.Equal(t, map[[2]string]bool{{"a", "a"}: true, {"ab", "ab"}: true}, pairs(t, mem, "/d/f", "/d/g"),
		"a crash does not part them")
	one, err := mem.Lstat("/d/f")
	require.NoError(t, err)
	two, err := mem.Stat("/d/g")
	require.NoError(t, err)
	require.True(t, mem.SameFile(one, two))
	require.NoError(t, mem.Remove("/d/f"))
	require.Equal(t, "ab", content(t, mem, "/d/g"))
	synced(t, mem, "/d/f", "ab")
	one, err = mem.Lstat("/d/f")
	require.NoError(t, err)
	require.False(t, mem.SameFile(one, two))
}

func TestARenameIsWholeOrNotAtAll(t *testing.T) {
	mem := faultfs.NewMem("/d")
	synced(t, mem, "/d/f", "old")
	synced(t, mem, "/d/g", "new")
	require.NoError(t, mem.Rename("/d/g", "/d/f"))
	require.Equal(t, "new", content(t, mem, "/d/f"))
	for after := range pairs(t, mem, "/d/f", "/d/g") {
		require.Contains(t, []string{"old", "new"}, after[0], "never nothing")
	}
	require.NoError(t, mem.SyncDir("/d"))
	require.Equal(t, map[[2]string]bool{{"new", ""}: true}, pairs(t, mem, "/d/f", "/d/g"))
	require.NoError(t, mem.Link("/d/f", "/d/g"))
	require.NoError(t, mem.Rename("/d/f", "/d/g"))
	require.Equal(t, "new", content(t, mem, "/d/f"), "two names of one file both stay")
}

func TestNamesAreRefusedAsADiskDoes(t *testing.T) {
	mem := faultfs.NewMem("/d")
	synced(t, mem, "/d/f", "a")
	synced(t, mem, "/d/g", "b")
	require.NoError(t, mem.MkdirAll("/d/sub", 0o700))
	for _, name := range []func(path, to string) error{mem.Link, mem.Rename} {
		require.ErrorIs(t, name("/d/no", "/d/h"), fs.ErrNotExist)
		require.ErrorIs(t, name("/d/f", "/no/h"), fs.ErrNotExist)
		require.ErrorIs(t, name("/d/sub", "/d/h"), syscall.EPERM)
	}
	require.ErrorIs(t, mem.Link("/d/f", "/d/g"), fs.ErrExist)
	require.ErrorIs(t, mem.Rename("/d/f", "/d/sub"), syscall.EISDIR)
	require.Equal(t, []string{"/d/f", "/d/g"}, mem.Files("/d"))
}
