package rollout_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
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
