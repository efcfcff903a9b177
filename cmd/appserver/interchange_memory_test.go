//go:build reference

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReferenceInterchangeReminders: what the model was reminded of here, it reads there, too, as
// a message that no client is shown; and threads from there are reminded here.
func TestReferenceInterchangeReminders(t *testing.T) {
	t.Parallel()
	x := newInterchange(t)
	x.reminding()
}

// reminded is this server with a memory.
func (x *interchange) reminded() *client { return x.oursWith(remembering...) }

func (x *interchange) reminding() {
	c := x.reminded()
	first := c.startThread(object{"cwd": x.project, "model": "chosen", "approvalPolicy": "never"})
	c.turn(first, "The metrics endpoint listens on port 9137.")
	c.turn(first, "And now the parser.")
	c.call("thread/context/trim", object{"threadId": first, "keepLastNTurns": 1})
	c.untilMethod("memory/updated")
	second := c.startThread(object{"cwd": x.project, "model": "chosen", "approvalPolicy": "never"})
	c.turn(second, "Which port have the metrics?")
	shown := c.answer("thread/resume", second).Thread
	c.close()
	count := func(path string) (n int) {
		return strings.Count(strings.Join(x.model.told(path), "\n"), "user: [memory:summary v1 |")
	}
	require.Equal(x.t, 1, count(ourRequests))

	c = x.reference()
	require.Equal(x.t, shown, c.answer("thread/resume", second).Thread)
	c.turn(second, "Go on with it there.")
	require.Equal(x.t, 1, count(theirRequests))
	third := c.startThread(object{"cwd": x.project, "model": "chosen", "approvalPolicy": "never"})
	c.turn(third, "Something else.")
	c.close()

	c = x.reminded()
	for _, id := range []string{second, third} {
		c.call("thread/resume", object{"threadId": id, "excludeTurns": true})
		c.turn(id, "And which port have the metrics now?")
		require.Equal(x.t, 1, count(ourRequests), "one, not two")
	}
	c.close()
}
