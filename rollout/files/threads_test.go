package files_test

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/rollout/files"
	"appserver/rollout/index"
	"appserver/rollout/store"
	"appserver/rollout/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestFilesKeepThePromisesOfAStore runs the suite with an index.
func TestFilesKeepThePromisesOfAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T, place string) store.Threads {
		rollouts := rollout.NewStore(rollout.OS(), place)
		report := func(err error) { t.Error(err) }
		ix := index.New(index.Options{Store: rollouts, Path: filepath.Join(place, "index.sqlite"), Report: report})
		t.Cleanup(func() { require.NoError(t, ix.Close(context.Background())) })
		return files.New(rollouts, ix, report)
	})
}

// TestFilesKeepAppendedLinesOnFaultyDisks lets each operation of the disk fail, with half of a write.
func TestFilesKeepAppendedLinesOnFaultyDisks(t *testing.T) {
	homes := map[string]*faultfs.Mem{}
	storetest.RunFaults(t, func(t *testing.T, place string, n int) (store.Threads, func() bool) {
		if homes[place] == nil {
			homes[place] = faultfs.NewMem(place)
		}
		fault := faultfs.Fault{First: n, Count: 1, Err: syscall.EIO, Partial: true}
		if n < 0 {
			fault = faultfs.Fault{}
		}
		disk := faultfs.Wrap(homes[place], fault)
		return files.New(rollout.NewStore(disk, place), nil, func(error) {}), func() bool { return disk.Failures() > 0 }
	})
}
