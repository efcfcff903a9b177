package rollout_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
)

func TestCoveredCountsTheLinesOfTheSnapshotCache(t *testing.T) {
	store, path, cache := cached(t)
	text := get(t, rollout.OS(), path)
	last := strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n') + 1
	want := rollout.Covered{Lines: 100, Begin: int64(last), End: int64(len(text))}
	require.Equal(t, want, store.Covered(threadA))
	appendTo(t, store, path, 100, 103)
	require.Equal(t, want, store.Covered(threadA), "the lines behind it are not covered")
	require.Zero(t, store.Covered(threadB))
	store.SnapshotVersion = "another"
	require.Zero(t, store.Covered(threadA))
	store.SnapshotVersion = ""
	whole := get(t, rollout.OS(), cache)
	for _, length := range []int{0, 3, 4, 50, 600} {
		overwrite(t, cache, whole[:length])
		require.Zero(t, store.Covered(threadA), length)
	}
	require.NoError(t, os.Remove(cache))
	require.Zero(t, store.Covered(threadA))
}

// TestDamagedLinesAreNotCovered has a line without a position.
func TestDamagedLinesAreNotCovered(t *testing.T) {
	store := rollout.NewStore(rollout.OS(), t.TempDir()).InChunks(100, 1<<20, 1000)
	path := put(t, rollout.OS(), store.PathFor(threadA, begin), metaLine+"no line\n"+strings.Repeat(numbered(1), 100))
	load(t, store, path)
	require.Zero(t, store.Covered(threadA))
}
