//go:build reference

package interchange

import (
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// userCommands runs commands of the user with one server. The other one shows them, and its model
// gets them.
func (x *interchange) userCommands(from, to func() *apptest.Client, path string) {
	c := from()
	id := x.startThread(c)
	c.Turn(id, "first")
	c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": "echo mine; exit 3"})
	c.AwaitTurn()
	here := c.CompareAnswer("thread/resume", id).Thread
	require.Len(x.t, here.Turns, 2)
	c.Close()

	c = to()
	require.Equal(x.t, here, c.CompareAnswer("thread/resume", id).Thread)
	c.Turn(id, "second")
	require.Equal(x.t, []string{"user: first", "assistant: answer to first", "user: <user_shell_command>", "user: second"},
		x.model.conversation(path))
	c.Close()
}

// terminals starts a background command with one server, which the user terminates turns later. The
// other one shows it in the turn of its start.
func (x *interchange) terminals(from, to func() *apptest.Client, path string) {
	c := from()
	id := x.startThread(c)
	c.Turn(id, "stay: echo up; sleep 600")
	c.Turn(id, "second")
	c.Call("thread/backgroundTerminals/clean", apptest.Object{"threadId": id})
	item := apptest.UntilItem[apptest.CommandItem](c, "commandExecution")
	require.Equal(x.t, "up\n", item.AggregatedOutput)
	here := c.CompareAnswer("thread/resume", id).Thread
	require.Len(x.t, here.Turns, 2)
	c.Close()

	c = to()
	require.Eventually(x.t, func() bool { return len(c.CompareAnswer("thread/resume", id).Thread.Turns[0].Items) == 3 },
		apptest.Timeout, 10*time.Millisecond)
	require.Equal(x.t, here, c.CompareAnswer("thread/resume", id).Thread)
	c.Turn(id, "third")
	require.Equal(x.t, []string{
		"user: stay: echo up; sleep 600", "call call_1: echo up; sleep 600", "output call_1: up\n", "assistant: done",
		"user: second", "assistant: answer to second", "user: third",
	}, x.model.conversation(path))
	c.Close()
}
