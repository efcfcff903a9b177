package e2e

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestAForkFromASnapshotEqualsOneFromLines forks a thread that is long enough for a snapshot: the whole thread, which
// begins with the snapshot, and up to its last turn, which applies all lines again. Both have the same turns, context
// and settings, also in a new process.
func TestAForkFromASnapshotEqualsOneFromLines(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	t.Parallel()
	home := apptest.ShortDir(t)
	id := apptest.LongRollout{Turns: 90, Output: 2000, CompactEvery: 40}.Write(t, home)
	c := apptest.StartOffline(t, home)
	c.Call("thread/resume", apptest.Object{"threadId": id, "excludeTurns": true})
	c.Call("context/setInclusion", apptest.Object{"threadId": id, "indices": []int{2}, "included": false})
	c.Call("thread/name/set", apptest.Object{"threadId": id, "name": "long"})
	last := c.Turn(id, "run: echo last").ID
	c.Close()
	require.FileExists(t, filepath.Join(home, "appserver-cache", id))

	c = apptest.StartOffline(t, home)
	fork := func(params apptest.Object) (forkID, settings string) {
		all := apptest.Object{"threadId": id, "excludeTurns": true}
		maps.Copy(all, params)
		answer := c.Call("thread/fork", all)
		return gjson.GetBytes(answer, "thread.id").Str,
			gjson.GetBytes(answer, "{model,modelProvider,cwd,approvalPolicy,sandbox,reasoningEffort}").Raw
	}
	whole, settings := fork(apptest.Object{})
	upTo, others := fork(apptest.Object{"lastTurnId": last})
	require.JSONEq(t, others, settings)
	want := c.ReadThread(id)
	require.Len(t, want.Turns, 92)
	same := func() {
		t.Helper()
		require.Equal(t, want.Turns, c.ReadThread(whole).Turns)
		require.Equal(t, want.Turns, c.ReadThread(upTo).Turns)
		list := c.ContextList(whole)
		require.NotEmpty(t, list.Items)
		require.Equal(t, c.ContextList(upTo), list)
		require.Equal(t, c.ContextList(id).Items, list.Items)
	}
	same()
	c.Turn(whole, "more")
	c.Call("thread/rollback", apptest.Object{"threadId": whole, "numTurns": 1})
	require.Equal(t, want.Turns, c.ReadThread(whole).Turns)
	c.Close()
	c = apptest.StartOffline(t, home)
	require.Equal(t, want.Turns, c.ReadThread(whole).Turns)
	require.Equal(t, want.Turns, c.ReadThread(upTo).Turns)
	require.Equal(t, c.ContextList(upTo).Items, c.ContextList(whole).Items)
}

// TestAnEphemeralForkDoesNotNeedItsOrigin deletes the origin, and asks for the next request of the fork.
func TestAnEphemeralForkDoesNotNeedItsOrigin(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	t.Parallel()
	home := apptest.ShortDir(t)
	id := apptest.LongRollout{Turns: 40, Output: 200}.Write(t, home)
	c := apptest.StartOffline(t, home)
	answer := c.Call("thread/fork", apptest.Object{"threadId": id, "ephemeral": true, "excludeTurns": true})
	fork := gjson.GetBytes(answer, "thread.id").Str
	want := apptest.PromptOf(c, fork)
	require.Greater(t, len(want), 100)
	c.Call("thread/delete", apptest.Object{"threadId": id})
	require.Equal(t, want, apptest.PromptOf(c, fork))
	require.Equal(t, "completed", c.Turn(fork, "more").Status)
}
