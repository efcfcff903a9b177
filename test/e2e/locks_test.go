package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestSecondServerCannotWriteThread starts a second server on a home. It can read the threads of
// the first, but not change them. A thread is unlocked when the first server exits, in any way,
// also during a turn.
func TestSecondServerCannotWriteThread(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	for name, end := range map[string]func(first *apptest.Client, id string) (turns int){
		"killed": func(first *apptest.Client, _ string) int {
			first.Signal(syscall.SIGKILL)
			first.Drain()
			return 3
		},
		"killed in a turn": func(first *apptest.Client, id string) int {
			first.BeginTurn(id, "run: echo begun; sleep 600")
			first.UntilOutput("begun\n")
			first.Signal(syscall.SIGKILL)
			first.Drain()
			return 4
		},
		"ended": func(first *apptest.Client, _ string) int {
			first.Close()
			return 3
		},
		"unloaded": func(first *apptest.Client, id string) int {
			first.Call("thread/unsubscribe", apptest.Object{"threadId": id})
			first.Until(func(m apptest.Message) bool { return m.Method == "thread/closed" && strings.Contains(m.Line, id) })
			return 3
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, id, _ := newStoredThread(t)
			first := apptest.StartOffline(t, home, "-c", "thread_unload_delay_secs=0")
			first.Call("thread/resume",
				apptest.Object{"threadId": id, "sandbox": "danger-full-access", "approvalPolicy": "never"})
			second := apptest.StartOffline(t, home)
			requireLocked(second, id)
			requireReads(second, id, first)
			require.Equal(t, "completed", first.Turn(id, "the third").Status)
			requireReads(second, id, first)

			turns := end(first, id)
			require.Len(t, second.CallThread("thread/resume", apptest.Object{"threadId": id}).Turns, turns)
			require.Equal(t, "completed", second.Turn(id, "the last").Status)
			second.Close()
		})
	}
}

// requireLocked requires that all changes of a thread of another server are rejected.
func requireLocked(c *apptest.Client, id string) {
	c.T.Helper()
	of := func(more apptest.Object) apptest.Object {
		more["threadId"] = id
		return more
	}
	for method, params := range map[string]apptest.Object{
		"thread/resume":          of(apptest.Object{}),
		"turn/start":             of(apptest.Object{"input": apptest.TextInput("mine")}),
		"thread/name/set":        of(apptest.Object{"name": "mine"}),
		"thread/metadata/update": of(apptest.Object{"gitInfo": apptest.Object{"branch": "mine"}}),
		"thread/rollback":        of(apptest.Object{"numTurns": 1}),
		"thread/archive":         of(apptest.Object{}),
		"thread/delete":          of(apptest.Object{}),
		"thread/compact/start":   of(apptest.Object{}),
		"context/setInclusion":   of(apptest.Object{"indices": []int{0}, "included": false}),
	} {
		refusal := c.CallRejected(method, params)
		require.Equal(c.T, "threadLocked", refusal.Data.Kind, "%s: %s", method, refusal.Message)
		require.Contains(c.T, refusal.Message, "thread "+id+" already has an active writer: close it there", method)
	}
	require.Regexp(c.T, "^thread not found: "+id,
		c.CallRejected("turn/start", of(apptest.Object{"input": apptest.TextInput("mine")})).Message)
	require.Equal(c.T, "threadNotFound",
		c.CallRejected("turn/start", apptest.Object{"threadId": apptest.UnknownThreadID,
			"input": apptest.TextInput("mine")}).Data.Kind)
}

// requireReads requires that all reads of a thread equal those of the server that has it.
func requireReads(c *apptest.Client, id string, holder *apptest.Client) {
	c.T.Helper()
	require.Equal(c.T, holder.ReadThread(id).Turns, c.ReadThread(id).Turns)
	for _, method := range []string{"thread/turns/list", "thread/items/list", "thread/timeline/list", "context/getItems"} {
		params := apptest.Object{"threadId": id}
		require.JSONEq(c.T, string(holder.Call(method, params)), string(c.Call(method, params)), method)
	}
	require.Contains(c.T, string(c.Call("thread/list", apptest.Object{})), `"id":"`+id)
	apptest.AwaitIndex(c)
	require.Contains(c.T, string(c.Call("thread/search", apptest.Object{"searchTerm": "the first"})), `"id":"`+id)
	require.NotEmpty(c.T, c.CallThread("thread/fork", apptest.Object{"threadId": id}).Turns)
}
