package rollout_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// leftovers creates temporary files of threads without a writer, and other files.
func leftovers(t *testing.T, disk rollout.FS, store *rollout.Store) (gone, kept []string) {
	t.Helper()
	whole := put(t, disk, store.PathFor(threadA, begin), metaLine)
	archived := filepath.Join(home, "archived_sessions", filepath.Base(whole))
	gone = []string{whole + ".tmp", store.PathFor(threadB, begin) + ".tmp", archived + ".tmp"}
	kept = []string{
		whole, put(t, disk, archived, metaLine), put(t, disk, whole+".bak", metaLine), put(t, disk, whole+".orig", metaLine),
		put(t, disk, filepath.Join(filepath.Dir(whole), "notes.tmp"), "somebody's"),
		put(t, disk, filepath.Join(home, filepath.Base(whole)+".tmp"), "not where rollouts are"),
	}
	for _, path := range gone {
		put(t, disk, path, "half of it")
	}
	return gone, kept
}

func TestLeftoversAreRemovedAndNothingElse(t *testing.T) {
	store, mem := memStore()
	require.NoError(t, store.RemoveLeftovers(), "of a home that is not there")
	gone, kept := leftovers(t, mem, store)
	require.NoError(t, store.RemoveLeftovers())
	for _, path := range gone {
		require.NotContains(t, mem.Files(home), path)
	}
	for _, path := range kept {
		require.Contains(t, mem.Files(home), path)
	}
	require.Empty(t, mem.Held())
}

// TestTemporaryFilesOfAWriterStay has another process hold the writer lock.
func TestTemporaryFilesOfAWriterStay(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine)
	log, _, err := store.Open(path)
	require.NoError(t, err)
	put(t, mem, path+".tmp", "half of it")
	require.NoError(t, rollout.NewStore(mem, home).RemoveLeftovers())
	require.Contains(t, mem.Files(home), path+".tmp")
	require.NoError(t, log.Close())
	require.NoError(t, store.RemoveLeftovers())
	require.NotContains(t, mem.Files(home), path+".tmp")
}

// TestRemoveLeftoversRecoversFromFaults fails each operation in turn.
func TestRemoveLeftoversRecoversFromFaults(t *testing.T) {
	failed := true
	for n := 0; failed; n++ {
		store, mem := memStore()
		gone, kept := leftovers(t, mem, store)
		disk := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: syscall.EIO})
		_ = rollout.NewStore(disk, home).RemoveLeftovers()
		failed = disk.Failures() > 0
		require.NoError(t, store.RemoveLeftovers())
		for _, path := range gone {
			require.NotContains(t, mem.Files(home), path)
		}
		for _, path := range kept {
			require.Contains(t, mem.Files(home), path)
		}
		require.Empty(t, mem.Held())
	}
}
