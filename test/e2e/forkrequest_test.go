package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
)

// TestForkRepeatsAPastRequest forks before each request of a turn, before and after edits and a trim of the origin.
// A turn without input sends the same messages and tools to the provider, byte for byte. An edit in the fork
// changes its request alone.
func TestForkRepeatsAPastRequest(t *testing.T) {
	t.Parallel()
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		t.Parallel()
		p := on.NewProvider(t, apptest.ShellAnswer("call_1", "seq 3"), apptest.TextAnswer("answer 1"),
			apptest.TextAnswer("answer 2"),
			apptest.TextAnswer("again 1"), apptest.TextAnswer("again 2"),
			apptest.TextAnswer("again 3"), apptest.TextAnswer("again 4"))
		c := apptest.StartServer(t, p.Home(t), withoutCheckpoints...)
		c.Initialize()
		thread := c.StartTrusted()
		c.Turn(thread, "question 1")
		c.Turn(thread, "question 2")
		output := apptest.FindItems(c.ContextList(thread), protocol.CategoryToolOutput, "")[0]
		c.Call("context/setInclusion", apptest.Object{"threadId": thread, "ids": []string{output}, "included": false})
		c.Call("thread/context/trim", apptest.Object{"threadId": thread, "keepLastNTurns": 0})
		past := pastRequests(c, thread)
		require.Len(t, past, 3)
		for i, request := range past {
			fork := forkBefore(c, thread, request.RequestID)
			c.Call("turn/start", apptest.Object{"threadId": fork, "input": []any{}})
			require.Equal(t, "completed", c.AwaitTurn().Status)
			require.Equal(t, sentText(p.Requests()[i].Body), sentText(p.Requests()[len(past)+i].Body))
		}
		fork := forkBefore(c, thread, past[1].RequestID)
		c.Call("context/setInclusion", apptest.Object{"threadId": fork, "ids": []string{output}, "included": false})
		c.Call("turn/start", apptest.Object{"threadId": fork, "input": []any{}})
		require.Equal(t, "completed", c.AwaitTurn().Status)
		require.Contains(t, sentText(p.Requests()[2*len(past)].Body), "[output excluded from context")
		require.NotContains(t, sentText(p.Requests()[1].Body), "[output excluded from context")
		c.Close()
	})
}

// forkBefore forks a thread before a request, and returns the id of the fork.
func forkBefore(c *apptest.Client, thread, request string) string {
	c.T.Helper()
	answer := c.Call("thread/fork", apptest.Object{"threadId": thread, "beforeRequestId": request, "excludeTurns": true})
	return gjson.GetBytes(answer, "thread.id").Str
}
