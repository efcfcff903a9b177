package rollout_test

import (
	"io/fs"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
)

func TestLinesAreAppendedBehindATornOne(t *testing.T) {
	store, mem := memStore()
	lines := store.LineFile("notes.jsonl")
	require.Equal(t, home+"/notes.jsonl", lines.Path())
	_, err := lines.Stat()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Empty(t, mem.Files(home))

	put(t, mem, lines.Path(), "one\ntor")
	lock, err := lines.Lock(rollout.Exclusive)
	require.NoError(t, err)
	require.NoError(t, lines.Append([]byte("two\nthree\n")))
	require.Equal(t, "one\ntor\ntwo\nthree\n", get(t, mem, lines.Path()))
	require.NoError(t, lines.Replace([]byte("four\n")))
	require.Equal(t, "four\n", get(t, mem, lines.Path()))
	require.NoError(t, lock.Close())

	shared, err := lines.Lock(rollout.Shared)
	require.NoError(t, err)
	other, err := lines.Lock(rollout.Shared)
	require.NoError(t, err)
	require.NoError(t, shared.Close())
	require.NoError(t, other.Close())
}

// TestLinesAreWholeWhateverFails fails each operation in turn.
func TestLinesAreWholeWhateverFails(t *testing.T) {
	for n := 0; ; n++ {
		mem := faultfs.NewMem(home)
		put(t, mem, home+"/notes.jsonl", "one\n")
		disk := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: syscall.ENOSPC, Partial: true})
		lines := rollout.NewStore(disk, home).LineFile("notes.jsonl")
		want := "one\n"
		if lock, err := lines.Lock(rollout.Exclusive); err == nil {
			if lines.Append([]byte("two\n")) == nil {
				want += "two\n"
			}
			require.Equal(t, want, get(t, mem, lines.Path()), "operation %d", n)
			if err := lines.Replace([]byte("three\n")); err == nil {
				want = "three\n"
			} else {
				require.ErrorContains(t, err, lines.Path())
				require.Contains(t, []string{want, "three\n"}, get(t, mem, lines.Path()), "operation %d", n)
				want = get(t, mem, lines.Path())
			}
			require.NoError(t, lock.Close())
		}
		require.Equal(t, want, get(t, mem, lines.Path()), "operation %d", n)
		require.Empty(t, mem.Held())
		if disk.Failures() == 0 {
			require.Greater(t, n, 10)
			return
		}
	}
}

// TestLinesOutlastCrashes crashes after each change of the disk. Acknowledged lines are
// complete, a replaced file has one of both contents, and appending still works.
func TestLinesOutlastCrashes(t *testing.T) {
	for seed := range uint64(20) {
		chance := rand.New(rand.NewPCG(seed, 0))
		mem := faultfs.NewMem(home)
		disk := &watched{FS: mem, then: func() {}}
		lines := rollout.NewStore(disk, home).LineFile("notes.jsonl")
		lock, err := lines.Lock(rollout.Exclusive)
		require.NoError(t, err)
		told, next := "", ""
		crashes := 0
		disk.then = func() {
			crashes++
			requireLines(t, mem.CrashClone(chance), lines.Path(), told, next)
		}
		for _, text := range []string{"one\n", "two\nthree\n", strings.Repeat("long ", 2000) + "\n"} {
			next = told + text
			require.NoError(t, lines.Append([]byte(text)))
			told = next
			disk.then()
		}
		next = "another\n"
		require.NoError(t, lines.Replace([]byte(next)))
		told = next
		disk.then()
		next = told + "last\n"
		require.NoError(t, lines.Append([]byte("last\n")))
		require.Greater(t, crashes, 15)
		require.NoError(t, lock.Close())
	}
}

// requireLines checks that the file has the acknowledged lines, and possibly a part of the
// next one. The next append starts a new line.
func requireLines(t *testing.T, clone *faultfs.Mem, path, told, next string) {
	t.Helper()
	text := ""
	if _, err := clone.Stat(path); err == nil {
		text = get(t, clone, path)
	}
	appended := strings.HasPrefix(text, told) && strings.HasPrefix(next, text)
	require.True(t, appended || text == next || text == told, "%.60q is there, told was %.60q, written %.60q", text, told, next)
	lines := rollout.NewStore(clone, home).LineFile("notes.jsonl")
	lock, err := lines.Lock(rollout.Exclusive)
	require.NoError(t, err)
	require.NoError(t, lines.Append([]byte("after\n")))
	require.True(t, strings.HasSuffix("\n"+get(t, clone, path), "\nafter\n"))
	require.NoError(t, lock.Close())
}
