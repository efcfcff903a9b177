package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBinaryGoesOnWithALargeThread resumes a thread of 24 MB, changes it, is killed, and resumes
// it from what it kept of it, later with a backup: what it shows is what it shows without that.
func TestBinaryGoesOnWithALargeThread(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	id := longTurns{turns: 500, output: 400, compactEvery: 40}.write(t, home)
	cache := filepath.Join(home, "appserver-cache")
	shown := func() []string {
		c := startOffline(t, home)
		c.call("thread/resume", object{"threadId": id, "excludeTurns": true})
		defer func() {
			c.signal(syscall.SIGKILL)
			c.drain()
		}()
		return []string{
			string(c.call("context/getItems", object{"threadId": id})),
			string(c.call("context/getPrompt", object{"threadId": id})),
			string(c.call("context/listEdits", object{"threadId": id})),
			string(c.call("thread/turns/list", object{"threadId": id, "limit": 40, "itemsView": "full"})),
			string(c.call("thread/read", object{"threadId": id, "includeTurns": true})),
		}
	}
	require.NoDirExists(t, cache)
	first := shown()
	require.FileExists(t, filepath.Join(cache, id))
	require.Equal(t, first, shown())

	c := startOffline(t, home)
	c.call("thread/resume", object{"threadId": id, "excludeTurns": true})
	require.Equal(t, "completed", c.turn(id, "run: seq 20000").Status)
	c.call("context/undo", object{"threadId": id}) // the last compaction: older turns are back
	c.call("context/setInclusion", object{"threadId": id, "indices": []int{3, 4}, "included": false})
	require.Equal(t, "completed", c.turn(id, "hello").Status)
	c.signal(syscall.SIGKILL)
	c.drain()

	kept := shown()
	require.NotEqual(t, first, kept)
	require.NoError(t, os.RemoveAll(cache))
	require.Equal(t, shown(), kept)

	c = startOffline(t, home)
	c.call("thread/resume", object{"threadId": id, "excludeTurns": true})
	c.call("context/setInclusion", object{"threadId": id, "indices": []int{1, 6}, "included": false})
	c.close() // which rewrites the file, with all of it in a backup
	backups, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.bak"))
	require.NoError(t, err)
	require.Len(t, backups, 1)
	kept = shown()
	require.NoError(t, os.RemoveAll(cache))
	require.Equal(t, shown(), kept)
}
