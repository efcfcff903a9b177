package rollout_test

import (
	"io/fs"
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

// TestLinesAreWholeWhateverFails lets each operation fail in turn.
func TestLinesAreWholeWhateverFails(t *testing.T) {
	for n := 0; ; n++ {
		mem := faultfs.NewMem(home)
		put(t, mem, home+"/notes.jsonl", "one\n")
		disk := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: syscall.ENOSPC, Part: true})
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
		if disk.Hits() == 0 {
			require.Greater(t, n, 10)
			return
		}
	}
}
