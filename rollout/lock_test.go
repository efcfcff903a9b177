package rollout_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/platform/osfile"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
)

var (
	locks = filepath.Join(home, "thread-writer-locks")
	gate  = filepath.Join(locks, ".coordination.lock")
)

// requireLocked checks the words that clients look for.
func requireLocked(t *testing.T, err error) {
	t.Helper()
	var locked *rollout.LockedError
	require.ErrorAs(t, err, &locked)
	require.Equal(t, threadA, locked.ID)
	require.Regexp(t, "^thread "+threadA+" already has an active writer", err.Error())
}

func TestAThreadHasOneWriter(t *testing.T) {
	dir := t.TempDir()
	one, two := rollout.NewStore(rollout.OS(), dir), rollout.NewStore(rollout.OS(), dir)
	log, err := one.Create(threadA, begin)
	require.NoError(t, err)
	second, err := two.Create(threadA, begin.Add(time.Hour))
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 1), true))

	requireLocked(t, second.Append(linesFrom(0, 1), true))
	_, _, err = two.Open(log.Path())
	requireLocked(t, err)
	_, err = two.Read(log.Path())
	require.NoError(t, err, "reading needs no lock")
	other, err := two.Create(threadB, begin)
	require.NoError(t, err)
	require.NoError(t, other.Append(linesFrom(0, 1), true), "another thread is free")
	require.NoError(t, other.Close())

	require.NoError(t, log.Close())
	reopened, contents, err := two.Open(log.Path())
	require.NoError(t, err)
	require.Len(t, contents.Lines, 1)
	require.NoError(t, second.Close())
	_, _, err = one.Open(log.Path())
	requireLocked(t, err)
	require.NoError(t, reopened.Close())
}

func TestALookAtALockTakesNone(t *testing.T) {
	store, mem := memStore()
	requireFree := func() {
		held, err := store.Locked(threadA)
		require.NoError(t, err)
		require.False(t, held)
		require.Empty(t, mem.Held())
	}
	requireFree()
	require.Empty(t, mem.Files(locks), "nothing was made for it")
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 1), true))
	held, err := store.Locked(threadA)
	require.NoError(t, err)
	require.True(t, held)
	require.NoError(t, log.Append(linesFrom(1, 1), true))
	require.NoError(t, log.Close())
	requireFree()
	put(t, mem, filepath.Join(locks, threadA+".lock"), "") // of a server that was killed
	requireFree()
	require.NotContains(t, mem.Files(locks), filepath.Join(locks, threadA+".lock"))
}

func TestLocksAreThoseOfTheReferenceImplementation(t *testing.T) {
	dir := t.TempDir()
	store := rollout.NewStore(rollout.OS(), dir)
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 1), true))
	path := filepath.Join(dir, "thread-writer-locks", threadA+".lock")
	foreign, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err, "the lock's file is there while the thread is loaded")
	taken, err := osfile.TryLock(foreign)
	require.NoError(t, err)
	require.False(t, taken)
	require.NoError(t, foreign.Close())

	require.NoError(t, log.Close())
	require.NoFileExists(t, path)
	require.FileExists(t, filepath.Join(filepath.Dir(path), ".coordination.lock"))

	foreign, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	taken, err = osfile.TryLock(foreign)
	require.NoError(t, err)
	require.True(t, taken)
	_, _, err = store.Open(log.Path())
	requireLocked(t, err)
	require.NoError(t, foreign.Close())
	log, _, err = store.Open(log.Path())
	require.NoError(t, err, "a file that nobody holds is no lock")
	require.NoError(t, log.Close())
}

func TestALockFileStaysWhileTheCoordinationLockIsHeld(t *testing.T) {
	store, mem := memStore()
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 1), true))
	someone, err := mem.Lock(gate, rollout.Shared)
	require.NoError(t, err)
	require.NoError(t, log.Close())
	require.Equal(t, []string{gate}, mem.Held(), "released all the same")
	require.Contains(t, mem.Files(locks), filepath.Join(locks, threadA+".lock"))
	require.NoError(t, someone.Close())
}

func TestTheGateIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, mem := memStore()
		log, err := store.Create(threadA, begin)
		require.NoError(t, err)
		require.NoError(t, mem.MkdirAll(locks, 0o700))
		someone, err := mem.Lock(gate, rollout.Exclusive)
		require.NoError(t, err)
		time.AfterFunc(time.Second, func() { _ = someone.Close() })
		require.NoError(t, log.Append(linesFrom(0, 1), true))
		require.NoError(t, log.Close())
	})
}

func TestTheGateIsNotWaitedForForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, mem := memStore()
		log, err := store.Create(threadA, begin)
		require.NoError(t, err)
		require.NoError(t, mem.MkdirAll(locks, 0o700))
		_, err = mem.Lock(gate, rollout.Exclusive)
		require.NoError(t, err)
		before := time.Now()
		err = log.Append(linesFrom(0, 1), true)
		require.ErrorIs(t, err, disk.ErrHeld)
		require.ErrorContains(t, err, gate)
		require.Less(t, time.Since(before), 10*time.Second)
		require.NoError(t, log.Close())
	})
}

func TestAFailedOpenHoldsNothing(t *testing.T) {
	mem := faultfs.NewMem(home)
	disk := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpRead}, Count: 1, Err: syscall.EIO})
	store := rollout.NewStore(disk, home)
	path := put(t, mem, store.PathFor(threadA, begin), metaLine)
	_, _, err := store.Open(path)
	require.ErrorIs(t, err, syscall.EIO)
	require.Empty(t, mem.Held())
	require.Equal(t, metaLine, get(t, mem, path), "a log that could not be read is not empty")
	log, _, err := store.Open(path)
	require.NoError(t, err)
	require.NoError(t, log.Append([]protocol.RolloutLine{line(1)}, true))
	require.NoError(t, log.Close())
}
