//go:build reference

package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// forked is the thread that a server answers thread/fork with.
func (c *client) forked(params object) sameThread {
	c.t.Helper()
	var a sameAnswer
	require.NoError(c.t, json.Unmarshal(c.call("thread/fork", params), &a))
	return a.Thread
}

// TestReferenceInterchangeForks has each server go on with the forks, and with what the other
// has taken back.
func TestReferenceInterchangeForks(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*interchange)
	}{
		{"ours", (*interchange).ourFork},
		{"ours up to a turn", (*interchange).ourForkOfAPart},
		{"of the reference", (*interchange).itsFork},
		{"reverted", func(x *interchange) { x.reverted((*client).close) }},
		{"reverted, killed", func(x *interchange) { x.reverted((*client).kill) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(newInterchange(t))
		})
	}
}

var twoTold = []string{
	"user: first", "assistant: answer to first",
	"user: run: echo hi", "call call_1: echo hi", "output call_1: hi\n", "assistant: done",
}

func (x *interchange) twoTurns(c *client) (id string) {
	id = x.begin(c)
	c.turn(id, "first")
	c.turn(id, "run: echo hi")
	return id
}

// ourFork is listed, read and gone on with, and so is its origin.
func (x *interchange) ourFork() {
	c := x.ours()
	id := x.twoTurns(c)
	next := c.forked(object{"threadId": id})
	c.close()

	c = x.reference()
	require.Equal(x.t, "first", c.inList(next.ID).Preview)
	require.Equal(x.t, next, c.answer("thread/resume", next.ID).Thread)
	c.turn(next.ID, "third")
	require.Equal(x.t, append(twoTold, "user: third"), x.model.told(theirRequests))
	require.Len(x.t, c.answer("thread/resume", id).Thread.Turns, 2)
	require.Len(x.t, c.forked(object{"threadId": next.ID}).Turns, 3)
	c.close()

	c = x.ours()
	require.Len(x.t, c.answer("thread/resume", next.ID).Thread.Turns, 3)
	c.turn(next.ID, "fourth")
	require.Equal(x.t, append(twoTold, "user: third", "assistant: answer to third", "user: fourth"), x.model.told(ourRequests))
	c.close()
}

// ourForkOfAPart lacks the last turn.
func (x *interchange) ourForkOfAPart() {
	c := x.ours()
	id := x.twoTurns(c)
	c.turn(id, "third")
	next := c.forked(object{"threadId": id, "lastTurnId": c.answer("thread/read", id).Thread.Turns[1].ID})
	require.Len(x.t, next.Turns, 2)
	c.close()

	c = x.reference()
	require.Equal(x.t, next, c.answer("thread/resume", next.ID).Thread)
	c.turn(next.ID, "other")
	require.Equal(x.t, append(twoTold, "user: other"), x.model.told(theirRequests))
	c.close()
}

// itsFork has no lines but its own.
func (x *interchange) itsFork() {
	c := x.reference()
	id := x.twoTurns(c)
	first := c.answer("thread/resume", id).Thread.Turns[0].ID
	whole, part := c.forked(object{"threadId": id}), c.forked(object{"threadId": id, "lastTurnId": first})
	c.turn(whole.ID, "third")
	c.close()

	c = x.ours()
	require.Equal(x.t, whole.Turns, c.answer("thread/resume", whole.ID).Thread.Turns[:2])
	c.turn(whole.ID, "fourth")
	require.Equal(x.t, append(twoTold, "user: third", "assistant: answer to third", "user: fourth"), x.model.told(ourRequests))
	require.Equal(x.t, part.Turns, c.answer("thread/resume", part.ID).Thread.Turns)
	c.turn(part.ID, "other")
	require.Equal(x.t, append(twoTold[:2:2], "user: other"), x.model.told(ourRequests))
	require.Contains(x.t, c.refused("thread/delete", object{"threadId": id}).Message, "forked history still references it")
	c.close()

	c = x.reference()
	c.call("thread/resume", object{"threadId": whole.ID})
	c.turn(whole.ID, "fifth")
	require.Equal(x.t, append(twoTold, "user: third", "assistant: answer to third", "user: fourth", "assistant: answer to fourth", "user: fifth"), x.model.told(theirRequests))
	c.close()
}

// reverted has a turn taken back here, and another one there.
func (x *interchange) reverted(end func(*client)) {
	c := x.ours()
	id := x.twoTurns(c)
	c.turn(id, "third")
	c.call("thread/rollback", object{"threadId": id, "numTurns": 1})
	end(c)

	c = x.reference()
	c.call("thread/resume", object{"threadId": id})
	c.turn(id, "other")
	require.Equal(x.t, append(twoTold, "user: other"), x.model.told(theirRequests))
	c.close()

	c = x.ours()
	shown := c.answer("thread/resume", id).Thread
	require.Len(x.t, shown.Turns, 3)
	c.turn(id, "last")
	require.Equal(x.t, append(twoTold, "user: other", "assistant: answer to other", "user: last"), x.model.told(ourRequests))
	c.close()
}
