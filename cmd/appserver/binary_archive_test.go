package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestTheArchiveKeepsTheContext takes an output out of a thread, and brings the thread to
// the archive and back, each in a process of its own.
func TestTheArchiveKeepsTheContext(t *testing.T) {
	home := t.TempDir()
	c := startOffline(t, home)
	id := c.startTrusted()
	c.turn(id, "run: echo one")
	c.turn(id, "run: echo two")
	excluded := itemsLike(c.contextList(id), protocol.CategoryToolOutput, "one")
	require.Len(t, excluded, 1)
	c.call("context/setInclusion", object{"threadId": id, "ids": excluded, "included": false})
	want := c.contextList(id).Items
	c.call("thread/archive", object{"threadId": id})
	c.close()
	requireIn(t, home, "archived_sessions/*"+id+"*")

	c = startOffline(t, home)
	require.Equal(t, string(protocol.KindThreadArchived), c.refused("thread/resume", object{"threadId": id}).Data.Kind)
	require.Equal(t, want, c.contextList(id).Items)
	c.call("thread/unarchive", object{"threadId": id})
	c.close()
	requireIn(t, home, "sessions/*/*/*/*"+id+"*")

	c = startOffline(t, home)
	c.call("thread/resume", object{"threadId": id})
	require.Equal(t, want, c.contextList(id).Items)
	c.call("context/restore", object{"threadId": id, "from": "backup"})
	require.Equal(t, "completed", c.turn(id, "run: echo three").Status)
	var answer protocol.ThreadArchiveAndNewResponse
	require.NoError(t, json.Unmarshal(c.call("thread/archiveAndNew", object{"threadId": id}), &answer))
	require.Equal(t, "completed", c.turn(answer.Thread.ID, "run: echo four").Status)
	c.close()

	c = startOffline(t, home)
	require.Len(t, c.readThread(answer.Thread.ID).Turns, 1)
	require.Len(t, c.readThread(id).Turns, 3)
	c.close()
}

// requireIn checks that a thread's rollout and its backup are the files of a pattern, and
// nowhere else.
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
