package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/platform/osfile"
)

// TestTheNameOfTheRefsIsSyncedOncePerFolder requires that a folder that is removed and created again is synced again,
// also if it gets the same number, and that a failed sync does not count.
func TestTheNameOfTheRefsIsSyncedOncePerFolder(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "refs", "appserver")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	born := func() int64 {
		id, err := osfile.IdentityOf(folder)
		if err != nil {
			return 0
		}
		return id.Born
	}
	var name durableName
	var failed error
	later := time.Now().Add(time.Hour)
	syncs := func(now time.Time) (n int) {
		require.Equal(t, failed, name.sync(folder, now, func(dir string) error {
			require.Equal(t, filepath.Dir(folder), dir)
			n++
			return failed
		}))
		return n
	}
	if born() == 0 {
		for range 2 {
			require.Equal(t, 1, syncs(later), "this file system keeps no times of birth")
		}
		return
	}
	failed = errors.New("the disk is gone")
	require.Equal(t, 1, syncs(later))
	failed = nil
	require.Equal(t, 1, syncs(time.Now()), "a folder that was just created")
	require.Equal(t, 1, syncs(later))
	require.Equal(t, 0, syncs(later))
	for before := born(); born() == before; { // until the clock of the file system has advanced
		require.NoError(t, os.Remove(folder))
		require.NoError(t, os.Mkdir(folder, 0o700))
	}
	require.Equal(t, 1, syncs(later), "created again")
	require.Equal(t, 0, syncs(later))
	require.NoError(t, os.Remove(folder))
	require.Equal(t, 1, syncs(later), "no folder")
}
