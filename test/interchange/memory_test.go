//go:build reference

package interchange

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestReferenceInterchangeReminders requires that the reference's model gets earlier reminders, as
// a message that clients do not see, and that threads of the reference get reminders here.
func TestReferenceInterchangeReminders(t *testing.T) {
	t.Parallel()
	x := newInterchange(t)
	x.reminding()
}

// withMemory starts this server with a memory.
func (x *interchange) withMemory() *apptest.Client { return x.oursWith(apptest.MemoryFlags...) }

func (x *interchange) reminding() {
	c := x.withMemory()
	first := c.StartThread(apptest.Object{"cwd": x.project, "model": "chosen", "approvalPolicy": "never"})
	c.Turn(first, "The metrics endpoint listens on port 9137.")
	c.Turn(first, "And now the parser.")
	c.Call("thread/context/trim", apptest.Object{"threadId": first, "keepLastNTurns": 1})
	c.UntilMethod("memory/updated")
	second := c.StartThread(apptest.Object{"cwd": x.project, "model": "chosen", "approvalPolicy": "never"})
	c.Turn(second, "Which port have the metrics?")
	shown := c.CompareAnswer("thread/resume", second).Thread
	c.Close()
	count := func(path string) (n int) {
		return strings.Count(strings.Join(x.model.conversation(path), "\n"), "user: [memory:summary v1 |")
	}
	require.Equal(x.t, 1, count(ourRequests))

	c = x.reference()
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", second).Thread)
	c.Turn(second, "Go on with it there.")
	require.Equal(x.t, 1, count(theirRequests))
	third := c.StartThread(apptest.Object{"cwd": x.project, "model": "chosen", "approvalPolicy": "never"})
	c.Turn(third, "Something else.")
	c.Close()

	c = x.withMemory()
	for _, id := range []string{second, third} {
		c.Call("thread/resume", apptest.Object{"threadId": id, "excludeTurns": true})
		c.Turn(id, "And which port have the metrics now?")
		require.Equal(x.t, 1, count(ourRequests), "one reminder")
	}
	c.Close()
}
