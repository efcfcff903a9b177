package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestLargeThreadSnapshotEqualsLoad resumes a thread of 24 MB, edits it, and resumes it after a
// kill from its snapshot, later with a backup. The result equals a load without a snapshot.
func TestLargeThreadSnapshotEqualsLoad(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	id := apptest.LongRollout{Turns: 500, Output: 400, CompactEvery: 40}.Write(t, home)
	cache := filepath.Join(home, "appserver-cache")
	shown := func() []string {
		c := apptest.StartOffline(t, home)
		c.Call("thread/resume", apptest.Object{"threadId": id, "excludeTurns": true})
		defer func() {
			c.Signal(syscall.SIGKILL)
			c.Drain()
		}()
		return []string{
			string(c.Call("context/getItems", apptest.Object{"threadId": id})),
			string(c.Call("context/getPrompt", apptest.Object{"threadId": id})),
			string(c.Call("context/listEdits", apptest.Object{"threadId": id})),
			string(c.Call("thread/turns/list", apptest.Object{"threadId": id, "limit": 40, "itemsView": "full"})),
			string(c.Call("thread/read", apptest.Object{"threadId": id, "includeTurns": true})),
		}
	}
	require.NoFileExists(t, filepath.Join(cache, id))
	first := shown()
	require.FileExists(t, filepath.Join(cache, id))
	require.Equal(t, first, shown())

	c := apptest.StartOffline(t, home)
	c.Call("thread/resume", apptest.Object{"threadId": id, "excludeTurns": true})
	require.Equal(t, "completed", c.Turn(id, "run: seq 20000").Status)
	c.Call("context/undo", apptest.Object{"threadId": id}) // the last compaction; older turns are in the context again
	c.Call("context/setInclusion", apptest.Object{"threadId": id, "indices": []int{3, 4}, "included": false})
	require.Equal(t, "completed", c.Turn(id, "hello").Status)
	c.Signal(syscall.SIGKILL)
	c.Drain()

	before := shown()
	require.NotEqual(t, first, before)
	require.NoError(t, os.RemoveAll(cache))
	require.Equal(t, shown(), before)

	c = apptest.StartOffline(t, home)
	c.Call("thread/resume", apptest.Object{"threadId": id, "excludeTurns": true})
	c.Call("context/setInclusion", apptest.Object{"threadId": id, "indices": []int{1, 6}, "included": false})
	c.Close() // it rewrites the file and writes a backup
	backups, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.bak"))
	require.NoError(t, err)
	require.Len(t, backups, 1)
	before = shown()
	require.NoError(t, os.RemoveAll(cache))
	require.Equal(t, shown(), before)
}
