package faultfs_test

import (
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

const flags = os.O_RDWR | os.O_CREATE

func create(t *testing.T, disk disk.FS, path string) disk.File {
	t.Helper()
	f, err := disk.OpenFile(path, flags, 0o600)
	require.NoError(t, err)
	return f
}

func write(t *testing.T, f disk.File, text string) {
	t.Helper()
	n, err := f.Write([]byte(text))
	require.NoError(t, err)
	require.Equal(t, len(text), n)
}

// content returns the content of a file, or "" if it does not exist.
func content(t *testing.T, disk disk.FS, path string) string {
	t.Helper()
	f, err := disk.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		require.ErrorIs(t, err, fs.ErrNotExist)
		return ""
	}
	info, err := f.Stat()
	require.NoError(t, err)
	data := make([]byte, info.Size())
	_, err = f.ReadAt(data, 0)
	require.NoError(t, err)
	return string(data)
}

// outcomes returns the possible contents of a file after a crash.
func outcomes(t *testing.T, mem *faultfs.Mem, path string) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	chance := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		seen[content(t, mem.CrashClone(chance), path)] = true
	}
	return seen
}

func TestACrashKeepsSyncedContentAndAPrefixOfTheRest(t *testing.T) {
	sample.NoRace(t)
	mem := faultfs.NewMem("/d")
	f := create(t, mem, "/d/f")
	require.NoError(t, mem.SyncDir("/d"))
	write(t, f, "ab")
	require.NoError(t, f.Sync())
	write(t, f, "cd")
	write(t, f, "e")
	require.Equal(t, map[string]bool{"ab": true, "abc": true, "abcd": true, "abcde": true}, outcomes(t, mem, "/d/f"))
	require.NoError(t, f.Truncate(1))
	require.Contains(t, outcomes(t, mem, "/d/f"), "abcd", "the cut may be lost, too")
	require.Contains(t, outcomes(t, mem, "/d/f"), "a")
	require.NoError(t, f.Sync())
	require.Equal(t, map[string]bool{"a": true}, outcomes(t, mem, "/d/f"))
	require.Equal(t, "a", content(t, mem, "/d/f"), "the original goes on")
}

func TestACrashMayLoseNamesThatWereNotSynced(t *testing.T) {
	sample.NoRace(t)
	mem := faultfs.NewMem("/d")
	require.NoError(t, mem.MkdirAll("/d/sub", 0o700))
	f := create(t, mem, "/d/sub/f")
	write(t, f, "x")
	require.NoError(t, f.Sync())
	require.Equal(t, map[string]bool{"": true, "x": true}, outcomes(t, mem, "/d/sub/f"))
	require.NoError(t, mem.SyncDir("/d/sub"))
	require.Equal(t, map[string]bool{"": true, "x": true}, outcomes(t, mem, "/d/sub/f"),
		"the folder's own name may be lost")
	require.NoError(t, mem.SyncDir("/d"))
	require.Equal(t, map[string]bool{"x": true}, outcomes(t, mem, "/d/sub/f"))
	require.NoError(t, mem.Remove("/d/sub/f"))
	require.Equal(t, map[string]bool{"": true, "x": true}, outcomes(t, mem, "/d/sub/f"), "a removed file may come back")
	require.NoError(t, mem.SyncDir("/d/sub"))
	require.Equal(t, map[string]bool{"": true}, outcomes(t, mem, "/d/sub/f"))
}

func TestMemBehavesAsADiskDoes(t *testing.T) {
	mem := faultfs.NewMem("/d")
	_, err := mem.OpenFile("/d/f", os.O_RDONLY, 0)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = mem.OpenFile("/no/f", flags, 0)
	require.ErrorIs(t, err, fs.ErrNotExist)
	f := create(t, mem, "/d/f")
	_, err = mem.OpenFile("/d/f", flags|os.O_EXCL, 0)
	require.ErrorIs(t, err, fs.ErrExist)
	require.ErrorIs(t, mem.MkdirAll("/d/f/g", 0o700), syscall.ENOTDIR)
	write(t, f, "abc")
	part := make([]byte, 2)
	n, err := f.ReadAt(part, 2)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, "c", string(part[:n]))
	info, err := mem.Stat("/d/f")
	require.NoError(t, err)
	require.EqualValues(t, 3, info.Size())
	require.True(t, info.Mode().IsRegular())

	reader, err := mem.OpenFile("/d/f", os.O_RDONLY, 0)
	require.NoError(t, err)
	_, err = reader.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.EBADF)
	require.NoError(t, reader.Close())
	require.ErrorIs(t, reader.Close(), fs.ErrClosed)

	require.NoError(t, mem.MkdirAll("/d/b/c", 0o700))
	entries, err := mem.ReadDir("/d")
	require.NoError(t, err)
	require.Len(t, entries, 2)
	require.Equal(t, "b", entries[0].Name())
	require.True(t, entries[0].IsDir())
	_, err = mem.ReadDir("/e")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = mem.Stat("/e")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, mem.Remove("/e"), fs.ErrNotExist)
	require.ErrorIs(t, mem.SyncDir("/e"), fs.ErrNotExist)
	require.Equal(t, []string{"/d/f"}, mem.Files("/d"))
}

func TestMemLocks(t *testing.T) {
	mem := faultfs.NewMem("/d")
	one, err := mem.Lock("/d/l", disk.Shared)
	require.NoError(t, err)
	two, err := mem.Lock("/d/l", disk.Shared)
	require.NoError(t, err)
	_, err = mem.Lock("/d/l", disk.Exclusive)
	require.ErrorIs(t, err, disk.ErrHeld)
	require.NoError(t, one.Close())
	require.NoError(t, one.Close(), "twice is once")
	require.Equal(t, []string{"/d/l"}, mem.Held())
	require.NoError(t, two.Close())
	three, err := mem.Lock("/d/l", disk.Exclusive)
	require.NoError(t, err)
	_, err = mem.Lock("/d/l", disk.Shared)
	require.ErrorIs(t, err, disk.ErrHeld)
	require.Empty(t, mem.CrashClone(rand.New(rand.NewPCG(1, 1))).Held(), "a crash releases locks")
	require.NoError(t, three.Close())
	require.Empty(t, mem.Held())
	_, err = mem.Lock("/no/l", disk.Shared)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
