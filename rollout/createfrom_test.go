package rollout_test

import (
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// TestAThreadBeginsWithLines checks that the first append writes all lines, and that nothing
// is on the disk before.
func TestAThreadBeginsWithLines(t *testing.T) {
	store, mem := memStore()
	log, err := store.CreateFrom(threadA, begin, linesFrom(0, 4))
	require.NoError(t, err)
	require.Empty(t, mem.Files(home))
	require.NoError(t, log.Append(linesFrom(4, 5), false))
	require.NoError(t, log.Append(linesFrom(5, 6), true))
	require.NoError(t, log.Close())
	require.Equal(t, []int64{0, 1, 2, 3, 4, 5}, plainNumbers(t, store, log.Path()))
}

// TestASeedIsAllOrNothing fails each operation, and crashes after it.
func TestASeedIsAllOrNothing(t *testing.T) {
	made := false
	for first := 0; !made; first++ {
		store, mem := memStore()
		faulty := faultfs.Wrap(mem, faultfs.Fault{First: first, Count: 1, Err: syscall.EIO})
		log, err := rollout.NewStore(faulty, home).CreateFrom(threadA, begin, linesFrom(0, 4))
		require.NoError(t, err)
		err = log.Append(linesFrom(4, 5), true)
		made = faulty.Failures() == 0
		for seed := range uint64(4) {
			after := rollout.NewStore(mem.CrashClone(rand.New(rand.NewPCG(seed, 1))), home)
			path, found := after.Find(threadA)
			if err == nil {
				require.NoError(t, found)
			}
			if found == nil {
				require.Equal(t, []int64{0, 1, 2, 3, 4}, plainNumbers(t, after, path))
			}
		}
		if err != nil {
			_, found := store.Find(threadA)
			require.Error(t, found)
			require.NoError(t, log.Append(linesFrom(4, 5), true), "it can be made again")
		}
		if log.Discard() == nil { // the fault may not have occurred yet
			_, found := store.Find(threadA)
			require.Error(t, found)
		}
	}
}

func plainNumbers(t *testing.T, store *rollout.Store, path string) []int64 {
	t.Helper()
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Empty(t, contents.Damage)
	return numbers(contents)
}
