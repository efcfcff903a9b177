package listen

import (
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"
)

// TestLockOfKilledServerIsAwaited takes a lock that is released after the first attempt, and gives one up that is not.
func TestLockOfKilledServerIsAwaited(t *testing.T) {
	for name, released := range map[string]bool{"released": true, "kept": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(shortDir(t), "s")
				held := flock.New(path + ".lock")
				got, err := held.TryLock()
				require.NoError(t, err)
				require.True(t, got)
				result := make(chan error)
				lock := flock.New(path + ".lock")
				go func() { result <- acquire(lock, path) }()
				synctest.Wait()
				if released {
					require.NoError(t, held.Close())
					require.NoError(t, <-result)
					require.NoError(t, lock.Close())
					return
				}
				require.ErrorAs(t, <-result, new(*InUseError))
				require.NoError(t, held.Close())
			})
		})
	}
}
