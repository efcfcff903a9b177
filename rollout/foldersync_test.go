package rollout_test

import (
	"math/rand/v2"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// syncedDirs records the synced folders.
type syncedDirs struct {
	rollout.FS
	mu    sync.Mutex
	paths []string
}

func (d *syncedDirs) SyncDir(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paths = append(d.paths, path)
	return d.FS.SyncDir(path)
}

// taken returns the folders since the last call.
func (d *syncedDirs) taken() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	paths := d.paths
	d.paths = nil
	return paths
}

func beginThread(t *testing.T, store *rollout.Store, id string) {
	t.Helper()
	log, err := store.Create(id, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 1), true))
	require.NoError(t, log.Close())
}

func TestFoldersAreSyncedOnce(t *testing.T) {
	mem := faultfs.NewMem(home)
	disk := &syncedDirs{FS: mem}
	store := rollout.NewStore(disk, home)
	day := filepath.Dir(store.PathFor(threadA, begin))
	month := filepath.Dir(day)
	year := filepath.Dir(month)
	all := []string{day, month, year, filepath.Dir(year), home}

	beginThread(t, store, threadA)
	require.Equal(t, all, disk.taken())
	beginThread(t, store, threadB)
	require.Equal(t, []string{day}, disk.taken(), "only the new file's name is not on the disk yet")

	// Another program removes a folder and creates it again.
	for _, id := range []string{threadA, threadB} {
		require.NoError(t, mem.Remove(store.PathFor(id, begin)))
	}
	require.NoError(t, mem.Remove(day))
	require.NoError(t, mem.MkdirAll(day, 0o700))
	beginThread(t, store, threadA)
	require.Equal(t, []string{day, month}, disk.taken())
	for seed := range uint64(100) {
		clone := mem.CrashClone(rand.New(rand.NewPCG(seed, 0)))
		_, err := clone.Stat(store.PathFor(threadA, begin))
		require.NoError(t, err, "after crash %d", seed)
	}
}

func TestAFolderThatCouldNotBeSyncedIsSyncedByTheNext(t *testing.T) {
	disk := &syncedDirs{FS: faultfs.Wrap(faultfs.NewMem(home), faultfs.Fault{
		Only: []faultfs.Op{faultfs.OpSyncDir}, First: 2, Count: 1, Err: syscall.EIO,
	})}
	store := rollout.NewStore(disk, home)
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	require.ErrorIs(t, log.Append(linesFrom(0, 1), true), syscall.EIO)
	failed := disk.taken()
	require.Len(t, failed, 3)
	require.NoError(t, log.Append(linesFrom(0, 1), true))
	require.NoError(t, log.Close())
	year := failed[2]
	require.Equal(t, []string{failed[0], year, filepath.Dir(year), home}, disk.taken(), "of the way, what was not synced")
}
