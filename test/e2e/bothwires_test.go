package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestBothWiresSendSameConversation checks the fake provider: a conversation with calls is the same
// by both APIs.
func TestBothWiresSendSameConversation(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	sent := map[apptest.WireAPI][]string{}
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		p := on.NewProvider(t, apptest.ShellAnswer("call_1", "echo hi"), apptest.TextAnswer("done"),
			apptest.TextAnswer("fine"))
		c := apptest.StartServer(t, p.Home(t))
		c.Initialize()
		thread := c.StartTrusted()
		c.Turn(thread, "first")
		c.Turn(thread, "second")
		requests := p.Requests()
		require.Len(t, requests, 3)
		require.Equal(t, on == apptest.ResponsesWire, gjson.Get(requests[2].Body, "input").Exists())
		for _, m := range requests[2].Messages {
			sent[on] = append(sent[on], gjson.GetBytes(m, "role").Str+" "+
				gjson.GetBytes(m, "tool_calls.0.function.arguments").Str)
		}
		c.Close()
	})
	joined := slices.CompactFunc(sent[apptest.ResponsesWire], func(a, b string) bool { return a == "user " && a == b })
	require.Equal(t, sent[apptest.ChatWire], joined)
}
