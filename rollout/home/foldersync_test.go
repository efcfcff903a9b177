package home_test

import (
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/rollout/faultfs"
	"appserver/rollout/home"
)

// syncedDirs records the synced folders.
type syncedDirs struct {
	disk.FS
	mu    sync.Mutex
	paths []string
}

func (d *syncedDirs) SyncDir(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paths = append(d.paths, path)
	return d.FS.SyncDir(path)
}

// sinceLast returns the folders since the last call.
func (d *syncedDirs) sinceLast() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	paths := d.paths
	d.paths = nil
	return paths
}

func TestFoldersAreSyncedOnce(t *testing.T) {
	mem := faultfs.NewMem(dir)
	files := &syncedDirs{FS: mem}
	h := home.New(files, dir, nil)
	first, second := h.PathFor(threadA, begin), h.PathFor(threadB, begin)
	day := filepath.Dir(first)
	month := filepath.Dir(day)
	year := filepath.Dir(month)

	put(t, mem, first, "")
	require.NoError(t, h.SyncEntries(first))
	require.Equal(t, []string{day, month, year, filepath.Dir(year), dir}, files.sinceLast())
	put(t, mem, second, "")
	require.NoError(t, h.SyncEntries(second))
	require.Equal(t, []string{day}, files.sinceLast(), "only the name of the new file is not durable")

	// Another program removes a folder and creates it again.
	require.NoError(t, mem.Remove(first))
	require.NoError(t, mem.Remove(second))
	require.NoError(t, mem.Remove(day))
	put(t, mem, first, "")
	require.NoError(t, h.SyncEntries(first))
	require.Equal(t, []string{day, month}, files.sinceLast())
}

func TestAFolderWhoseSyncFailedIsSyncedAgain(t *testing.T) {
	mem := faultfs.NewMem(dir)
	files := &syncedDirs{FS: faultfs.Wrap(mem, faultfs.Fault{
		Only: []faultfs.Op{faultfs.OpSyncDir}, First: 2, Count: 1, Err: syscall.EIO,
	})}
	h := home.New(files, dir, nil)
	path := put(t, mem, h.PathFor(threadA, begin), "")
	require.ErrorIs(t, h.SyncEntries(path), syscall.EIO)
	failed := files.sinceLast()
	require.Len(t, failed, 3)
	require.NoError(t, h.SyncEntries(path))
	year := failed[2]
	require.Equal(t, []string{failed[0], year, filepath.Dir(year), dir}, files.sinceLast(), "all that is not durable")
}
