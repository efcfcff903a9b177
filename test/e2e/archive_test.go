package e2e

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestArchiveKeepsContextEdits excludes an output, archives the thread and unarchives it, each in
// its own process.
func TestArchiveKeepsContextEdits(t *testing.T) {
	sample.Long(t)
	home := t.TempDir()
	c := apptest.StartOffline(t, home)
	id := c.StartTrusted()
	c.Turn(id, "run: echo one")
	c.Turn(id, "run: echo two")
	excluded := apptest.FindItems(c.ContextList(id), protocol.CategoryToolOutput, "one")
	require.Len(t, excluded, 1)
	c.Call("context/setInclusion", apptest.Object{"threadId": id, "ids": excluded, "included": false})
	want := c.ContextList(id).Items
	c.Call("thread/archive", apptest.Object{"threadId": id})
	c.Close()
	requireIn(t, home, "archived_sessions/*"+id+"*")

	c = apptest.StartOffline(t, home)
	require.Equal(t, string(protocol.KindThreadArchived),
		c.CallRejected("thread/resume", apptest.Object{"threadId": id}).Data.Kind)
	require.Equal(t, want, c.ContextList(id).Items)
	c.Call("thread/unarchive", apptest.Object{"threadId": id})
	c.Close()
	requireIn(t, home, "sessions/*/*/*/*"+id+"*")

	c = apptest.StartOffline(t, home)
	c.Call("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, want, c.ContextList(id).Items)
	c.Call("context/restore", apptest.Object{"threadId": id, "from": "backup"})
	require.Equal(t, "completed", c.Turn(id, "run: echo three").Status)
	var answer protocol.ThreadArchiveAndNewResponse
	require.NoError(t, json.Unmarshal(c.Call("thread/archiveAndNew", apptest.Object{"threadId": id}), &answer))
	require.Equal(t, "completed", c.Turn(answer.Thread.ID, "run: echo four").Status)
	c.Close()

	c = apptest.StartOffline(t, home)
	require.Len(t, c.ReadThread(answer.Thread.ID).Turns, 1)
	require.Len(t, c.ReadThread(id).Turns, 3)
	c.Close()
}

// requireIn requires that the only files of rollout and backup match a pattern.
func requireIn(t *testing.T, home, pattern string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(home, pattern))
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, found[0]+".bak", found[1])
	for _, other := range []string{"sessions/*/*/*/rollout-*", "archived_sessions/rollout-*"} {
		all, err := filepath.Glob(filepath.Join(home, other))
		require.NoError(t, err)
		require.Subset(t, found, all)
	}
}
