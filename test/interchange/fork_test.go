//go:build reference

package interchange

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// forked returns the thread in the response to thread/fork.
func forked(c *apptest.Client, params apptest.Object) apptest.ComparedThread {
	c.T.Helper()
	var a apptest.ComparedAnswer
	require.NoError(c.T, json.Unmarshal(c.Call("thread/fork", params), &a))
	return a.Thread
}

// TestReferenceInterchangeForks continues forks and reverted threads with the other server.
func TestReferenceInterchangeForks(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesExchange)
	for _, c := range []struct {
		name string
		run  func(*interchange)
	}{
		{"ours", (*interchange).ourFork},
		{"ours up to a turn", (*interchange).ourPartialFork},
		{"of the reference", (*interchange).theirFork},
		{"reverted", func(x *interchange) { x.reverted((*apptest.Client).Close) }},
		{"reverted, killed", func(x *interchange) { x.reverted((*apptest.Client).Kill) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(newInterchange(t))
		})
	}
}

var twoTurnsConversation = []string{
	"user: first", "assistant: answer to first",
	"user: run: echo hi", "call call_1: echo hi", "output call_1: hi\n", "assistant: done",
}

func (x *interchange) twoTurns(c *apptest.Client) (id string) {
	id = x.startThread(c)
	c.Turn(id, "first")
	c.Turn(id, "run: echo hi")
	return id
}

// ourFork lists, reads and continues a fork of this server and its origin.
func (x *interchange) ourFork() {
	c := x.ours()
	id := x.twoTurns(c)
	next := forked(c, apptest.Object{"threadId": id})
	c.Close()

	c = x.reference()
	require.Equal(x.t, "first", inList(c, next.ID).Preview)
	require.Equal(x.t, next, c.CompareAnswer("thread/resume", next.ID).Thread)
	c.Turn(next.ID, "third")
	require.Equal(x.t, append(twoTurnsConversation, "user: third"), x.model.conversation(theirRequests))
	require.Len(x.t, c.CompareAnswer("thread/resume", id).Thread.Turns, 2)
	require.Len(x.t, forked(c, apptest.Object{"threadId": next.ID}).Turns, 3)
	c.Close()

	c = x.ours()
	require.Len(x.t, c.CompareAnswer("thread/resume", next.ID).Thread.Turns, 3)
	c.Turn(next.ID, "fourth")
	require.Equal(x.t, append(twoTurnsConversation, "user: third", "assistant: answer to third", "user: fourth"),
		x.model.conversation(ourRequests))
	c.Close()
}

// ourPartialFork forks without the last turn.
func (x *interchange) ourPartialFork() {
	c := x.ours()
	id := x.twoTurns(c)
	c.Turn(id, "third")
	next := forked(c, apptest.Object{"threadId": id, "lastTurnId": c.CompareAnswer("thread/read", id).Thread.Turns[1].ID})
	require.Len(x.t, next.Turns, 2)
	c.Close()

	c = x.reference()
	require.Equal(x.t, next, c.CompareAnswer("thread/resume", next.ID).Thread)
	c.Turn(next.ID, "other")
	require.Equal(x.t, append(twoTurnsConversation, "user: other"), x.model.conversation(theirRequests))
	c.Close()
}

// theirFork reads a fork of the reference, whose file has only its own lines.
func (x *interchange) theirFork() {
	c := x.reference()
	id := x.twoTurns(c)
	first := c.CompareAnswer("thread/resume", id).Thread.Turns[0].ID
	full, part := forked(c, apptest.Object{"threadId": id}),
		forked(c, apptest.Object{"threadId": id, "lastTurnId": first})
	c.Turn(full.ID, "third")
	c.Close()

	c = x.ours()
	require.Equal(x.t, full.Turns, c.CompareAnswer("thread/resume", full.ID).Thread.Turns[:2])
	c.Turn(full.ID, "fourth")
	require.Equal(x.t, append(twoTurnsConversation, "user: third", "assistant: answer to third", "user: fourth"),
		x.model.conversation(ourRequests))
	require.Equal(x.t, part.Turns, c.CompareAnswer("thread/resume", part.ID).Thread.Turns)
	c.Turn(part.ID, "other")
	require.Equal(x.t, append(twoTurnsConversation[:2:2], "user: other"), x.model.conversation(ourRequests))
	require.Contains(x.t, c.CallRejected("thread/delete", apptest.Object{"threadId": id}).Message,
		"forked history still references it")
	c.Close()

	c = x.reference()
	c.Call("thread/resume", apptest.Object{"threadId": full.ID})
	c.Turn(full.ID, "fifth")
	require.Equal(x.t, append(twoTurnsConversation, "user: third", "assistant: answer to third", "user: fourth",
		"assistant: answer to fourth", "user: fifth"), x.model.conversation(theirRequests))
	c.Close()
}

// reverted reverts a turn here, and another one there.
func (x *interchange) reverted(end func(*apptest.Client)) {
	c := x.ours()
	id := x.twoTurns(c)
	c.Turn(id, "third")
	c.Call("thread/rollback", apptest.Object{"threadId": id, "numTurns": 1})
	end(c)

	c = x.reference()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	c.Turn(id, "other")
	require.Equal(x.t, append(twoTurnsConversation, "user: other"), x.model.conversation(theirRequests))
	c.Close()

	c = x.ours()
	shown := c.CompareAnswer("thread/resume", id).Thread
	require.Len(x.t, shown.Turns, 3)
	c.Turn(id, "last")
	require.Equal(x.t, append(twoTurnsConversation, "user: other", "assistant: answer to other", "user: last"),
		x.model.conversation(ourRequests))
	c.Close()
}
