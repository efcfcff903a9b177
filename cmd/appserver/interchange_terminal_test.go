//go:build reference

package main

import "github.com/stretchr/testify/require"

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
