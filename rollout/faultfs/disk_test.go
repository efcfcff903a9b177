package faultfs_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/rollout/faultfs"
)

// everything runs each operation once, in the order of the Op constants, and returns the
// errors.
func everything(t *testing.T, files disk.FS) []error {
	t.Helper()
	f, err := files.OpenFile("/d/f", flags, 0o600)
	errs := []error{files.MkdirAll("/d/e", 0o700), err}
	if err != nil {
		f = create(t, faultfs.NewMem("/d"), "/d/f")
	}
	do := func(_ any, err error) { errs = append(errs, err) }
	do(files.ReadDir("/d"))
	do(files.Stat("/d/f"))
	do(nil, files.SyncDir("/d"))
	do(files.Lock("/d/l", disk.Shared))
	do(f.Write([]byte("abcd")))
	do(f.ReadAt(make([]byte, 1), 0))
	do(nil, f.Sync())
	do(nil, f.Truncate(1))
	do(f.Stat())
	do(nil, f.Close())
	do(files.Lstat("/d/f"))
	do(nil, files.Link("/d/f", "/d/g"))
	do(nil, files.Rename("/d/g", "/d/h"))
	do(nil, files.Remove("/d/f"))
	return errs
}

func TestEachOperationCanFail(t *testing.T) {
	sound := faultfs.Wrap(faultfs.NewMem("/d"), faultfs.Fault{})
	for _, err := range everything(t, sound) {
		require.NoError(t, err)
	}
	require.Zero(t, sound.Failures())
	for _, op := range []faultfs.Op{
		faultfs.OpMkdirAll, faultfs.OpReadDir, faultfs.OpStat, faultfs.OpRemove, faultfs.OpLink, faultfs.OpSyncDir,
		faultfs.OpLock,
		faultfs.OpWrite, faultfs.OpSync, faultfs.OpTruncate, faultfs.OpClose, faultfs.OpRename, faultfs.OpOpen,
	} {
		disk := faultfs.Wrap(faultfs.NewMem("/d"), faultfs.Fault{Only: []faultfs.Op{op}, Count: 1, Err: syscall.EIO})
		failed := 0
		for _, err := range everything(t, disk) {
			if err != nil && op != faultfs.OpOpen {
				failed++
			}
		}
		require.Equal(t, 1, disk.Failures(), op)
		if op == faultfs.OpLink {
			failed-- // there is no file to rename
		}
		if op != faultfs.OpOpen && op != faultfs.OpWrite {
			require.Equal(t, 1, failed, op)
		}
	}
}

func TestTheNumberedOperationsFail(t *testing.T) {
	mem := faultfs.NewMem("/d")
	disk := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpWrite}, First: 1, Count: 2, Err: syscall.ENOSPC,
		Partial: true})
	f := create(t, disk, "/d/f")
	write(t, f, "ab")
	for range 2 {
		n, err := f.Write([]byte("cdef"))
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.ErrorContains(t, err, "/d/f")
		require.Equal(t, 2, n)
	}
	write(t, f, "gh")
	require.Equal(t, "abcdcdgh", content(t, mem, "/d/f"))
	require.Equal(t, 2, disk.Failures())
}

func TestHealEndsAllFailing(t *testing.T) {
	disk := faultfs.Wrap(faultfs.NewMem("/d"), faultfs.Fault{Count: -1, Err: syscall.EIO})
	for range 3 {
		require.ErrorIs(t, disk.SyncDir("/d"), syscall.EIO)
	}
	disk.Heal()
	require.NoError(t, disk.SyncDir("/d"))
}

func TestAFailingCloseCloses(t *testing.T) {
	disk := faultfs.Wrap(faultfs.NewMem("/d"),
		faultfs.Fault{Only: []faultfs.Op{faultfs.OpClose}, Count: 1, Err: syscall.EIO})
	f := create(t, disk, "/d/f")
	require.ErrorIs(t, f.Close(), syscall.EIO)
	require.Error(t, f.Sync())
}
