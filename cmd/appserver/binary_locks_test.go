package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBinaryHasOneWriterForEachThread starts a second server on the same home. What
// changes a thread that the first one holds is refused, what reads it is not; the thread is
// free as soon as the first has ended, however that was, with a turn under way too.
func TestBinaryHasOneWriterForEachThread(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(first *client, id string) (turns int){
		"killed": func(first *client, _ string) int {
			first.signal(syscall.SIGKILL)
			first.drain()
			return 3
		},
		"killed in a turn": func(first *client, id string) int {
			first.beginTurn(id, "run: echo begun; sleep 600")
			first.untilOutput("begun\n")
			first.signal(syscall.SIGKILL)
			first.drain()
			return 4
		},
		"ended": func(first *client, _ string) int {
			first.close()
			return 3
		},
		"unloaded": func(first *client, id string) int {
			first.call("thread/unsubscribe", object{"threadId": id})
			first.until(func(m message) bool { return m.Method == "thread/closed" && strings.Contains(m.line, id) })
			return 3
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, id, _ := stored(t)
			first := startOffline(t, home, "-c", "thread_unload_delay_secs=0")
			first.call("thread/resume", object{"threadId": id, "sandbox": "danger-full-access", "approvalPolicy": "never"})
			second := startOffline(t, home)
			second.requireLocked(id)
			second.requireReads(id, first)
			require.Equal(t, "completed", first.turn(id, "the third").Status)
			second.requireReads(id, first)

			turns := end(first, id)
			require.Len(t, second.threadOf("thread/resume", object{"threadId": id}).Turns, turns)
			require.Equal(t, "completed", second.turn(id, "the last").Status)
			second.close()
		})
	}
}

// requireLocked tries everything that changes a thread which another server holds.
func (c *client) requireLocked(id string) {
	c.t.Helper()
	of := func(more object) object {
		more["threadId"] = id
		return more
	}
	for method, params := range map[string]object{
		"thread/resume":          of(object{}),
		"turn/start":             of(object{"input": textInput("mine")}),
		"thread/name/set":        of(object{"name": "mine"}),
		"thread/metadata/update": of(object{"gitInfo": object{"branch": "mine"}}),
		"thread/rollback":        of(object{"numTurns": 1}),
		"thread/archive":         of(object{}),
		"thread/delete":          of(object{}),
		"thread/compact/start":   of(object{}),
		"context/setInclusion":   of(object{"indices": []int{0}, "included": false}),
	} {
		refusal := c.refused(method, params)
		require.Equal(c.t, "threadLocked", refusal.Data.Kind, "%s: %s", method, refusal.Message)
		require.Contains(c.t, refusal.Message, "thread "+id+" already has an active writer: close it there", method)
	}
	require.Regexp(c.t, "^thread not found: "+id, c.refused("turn/start", of(object{"input": textInput("mine")})).Message)
	require.Equal(c.t, "threadNotFound", c.refused("turn/start", object{"threadId": strangerID, "input": textInput("mine")}).Data.Kind)
}

// requireReads reads a thread in all ways, as the server that holds it does.
func (c *client) requireReads(id string, holder *client) {
	c.t.Helper()
	require.Equal(c.t, holder.readThread(id).Turns, c.readThread(id).Turns)
	for _, method := range []string{"thread/turns/list", "thread/items/list", "thread/timeline/list", "context/getItems"} {
		params := object{"threadId": id}
		require.JSONEq(c.t, string(holder.call(method, params)), string(c.call(method, params)), method)
	}
	require.Contains(c.t, string(c.call("thread/list", object{})), `"id":"`+id)
	awaitIndex(c)
	require.Contains(c.t, string(c.call("thread/search", object{"searchTerm": "the first"})), `"id":"`+id)
	require.NotEmpty(c.t, c.threadOf("thread/fork", object{"threadId": id}).Turns)
}
