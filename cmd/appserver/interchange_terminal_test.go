//go:build reference

package main

import (
	"time"

	"github.com/stretchr/testify/require"
)

// ownCommands has the user run commands with one server; the other, whose requests have the
// path, shows them, and its model has read of them.
func (x *interchange) ownCommands(from, to func() *client, path string) {
	c := from()
	id := x.begin(c)
	c.turn(id, "first")
	c.call("thread/shellCommand", object{"threadId": id, "command": "echo mine; exit 3"})
	c.awaitTurn()
	here := c.answer("thread/resume", id).Thread
	require.Len(x.t, here.Turns, 2)
	c.close()

	c = to()
	require.Equal(x.t, here, c.answer("thread/resume", id).Thread)
	c.turn(id, "second")
	require.Equal(x.t, []string{"user: first", "assistant: answer to first", "user: <user_shell_command>", "user: second"}, x.model.told(path))
	c.close()
}

// terminals has the model leave a command running with one server, which the user ends turns
// later. The other shows it in the turn in which it began.
func (x *interchange) terminals(from, to func() *client, path string) {
	c := from()
	id := x.begin(c)
	c.turn(id, "stay: echo up; sleep 600")
	c.turn(id, "second")
	c.call("thread/backgroundTerminals/clean", object{"threadId": id})
	item := untilItem[commandItem](c, "commandExecution")
	require.Equal(x.t, "up\n", item.AggregatedOutput)
	here := c.answer("thread/resume", id).Thread
	require.Len(x.t, here.Turns, 2)
	c.close()

	c = to()
	require.Eventually(x.t, func() bool { return len(c.answer("thread/resume", id).Thread.Turns[0].Items) == 3 }, patience, 10*time.Millisecond)
	require.Equal(x.t, here, c.answer("thread/resume", id).Thread)
	c.turn(id, "third")
	require.Equal(x.t, []string{
		"user: stay: echo up; sleep 600", "call call_1: echo up; sleep 600", "output call_1: up\n", "assistant: done",
		"user: second", "assistant: answer to second", "user: third",
	}, x.model.told(path))
	c.close()
}
