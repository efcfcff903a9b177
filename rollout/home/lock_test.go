package home_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/rollout/faultfs"
	"appserver/rollout/home"
)

var (
	locks        = filepath.Join(dir, "thread-writer-locks")
	coordination = filepath.Join(locks, ".coordination.lock")
)

func TestAThreadHasOneWriterLock(t *testing.T) {
	h, mem := memHome()
	other := home.New(mem, dir, nil)
	lock, err := h.Lock(threadA)
	require.NoError(t, err)
	_, err = other.Lock(threadA)
	var locked *home.LockedError
	require.ErrorAs(t, err, &locked)
	require.Equal(t, threadA, locked.ID)
	second, err := other.Lock(threadB)
	require.NoError(t, err, "the lock of another thread")
	held, err := other.Locked(threadA)
	require.NoError(t, err)
	require.True(t, held)

	require.NoError(t, lock.Release())
	require.NoError(t, second.Release())
	require.Empty(t, mem.Held())
	require.NotContains(t, mem.Files(locks), filepath.Join(locks, threadA+".lock"), "the lock file is removed")
	held, err = other.Locked(threadA)
	require.NoError(t, err)
	require.False(t, held)
}

func TestALockFileIsKeptWhileAnotherProcessTakesALock(t *testing.T) {
	h, mem := memHome()
	lock, err := h.Lock(threadA)
	require.NoError(t, err)
	other, err := mem.Lock(coordination, disk.Shared)
	require.NoError(t, err)
	require.NoError(t, lock.Release())
	require.Equal(t, []string{coordination}, mem.Held())
	require.Contains(t, mem.Files(locks), filepath.Join(locks, threadA+".lock"))
	require.NoError(t, other.Close())
}

func TestALockWaitsForTheCoordinationLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, mem := memHome()
		require.NoError(t, mem.MkdirAll(locks, disk.DirMode))
		other, err := mem.Lock(coordination, disk.Exclusive)
		require.NoError(t, err)
		time.AfterFunc(time.Second, func() { _ = other.Close() })
		lock, err := h.Lock(threadA)
		require.NoError(t, err)
		require.NoError(t, lock.Release())
	})
}

func TestTheWaitForTheCoordinationLockIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, mem := memHome()
		require.NoError(t, mem.MkdirAll(locks, disk.DirMode))
		other, err := mem.Lock(coordination, disk.Exclusive)
		require.NoError(t, err)
		before := time.Now()
		_, err = h.Lock(threadA)
		require.ErrorIs(t, err, disk.ErrHeld)
		require.ErrorContains(t, err, coordination)
		require.InDelta(t, 5, time.Since(before).Seconds(), 0.1)
		require.NoError(t, other.Close())
	})
}

// TestReleaseDoesNotFreeDescriptors would deadlock a home whose free function releases locks.
func TestReleaseDoesNotFreeDescriptors(t *testing.T) {
	mem := faultfs.NewMem(dir)
	files := faultfs.Wrap(mem, faultfs.Fault{
		Only: []faultfs.Op{faultfs.OpLock}, First: 2, Count: 1, Err: syscall.EMFILE,
	})
	h := home.New(files, dir, func() bool { require.Fail(t, "free is called"); return false })
	lock, err := h.Lock(threadA)
	require.NoError(t, err)
	require.NoError(t, lock.Release())
	require.Equal(t, 1, files.Failures())
	require.Empty(t, mem.Held())
}
