package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// outputOf is what a request has of a call's output.
func outputOf(t *testing.T, r chatRequest, call string) string {
	t.Helper()
	for _, raw := range r.Messages {
		if m := gjson.ParseBytes(raw); m.Get("tool_call_id").Str == call {
			return m.Get("content").Str
		}
	}
	require.Failf(t, "no output", "%s in %s", call, r.Body)
	return ""
}

// TestBinaryRecalls: the model searches what it is not sent any more, and brings back what was
// excluded, which the user takes back.
func TestBinaryRecalls(t *testing.T) { onBothWires(t, binaryRecalls) }

func binaryRecalls(t *testing.T, on wireAPI) {
	t.Parallel()
	p := on.provider(t, says("Noted."), says("The parser is done."), callsTool("c1", "recall", `{"query":"metrics port"}`), says("It is 9137."),
		callsTool("c2", "recall", `{"ids":["r6"],"query":"weather"}`), says("There it is."), says("Gone again."), says("Off."))
	c := startServer(t, p.home(t), "-c", "memory.recall_tool=true")
	c.initialize()
	thread := c.startThread(object{"cwd": t.TempDir(), "approvalPolicy": "never"})
	c.turn(thread, "The metrics endpoint listens on port 9137.")
	c.turn(thread, "And now the parser.")
	excluded := c.contextList(thread).Items[1]
	require.Equal(t, "r6", excluded.ID)
	c.call("context/setInclusion", object{"threadId": thread, "ids": []string{excluded.ID}, "included": false})

	require.Equal(t, "completed", c.turn(thread, "Which port was it?").Status)
	asked := p.asked()
	require.NotContains(t, strings.Join(asked[2].conversation(t), "|"), "9137")
	require.Contains(t, asked[2].tools(), "recall")
	require.Equal(t, "r6 (excluded): The metrics endpoint listens on port 9137.", outputOf(t, asked[3], "c1"))

	require.Equal(t, "completed", c.turn(thread, "Bring it back.").Status)
	last := p.asked()[5]
	require.Contains(t, outputOf(t, last, "c2"), "r6 is in the conversation again")
	require.Contains(t, outputOf(t, last, "c2"), "Nothing was found")
	require.Equal(t, "user: The metrics endpoint listens on port 9137.", last.conversation(t)[0])
	c.call("context/undo", object{"threadId": thread})
	conversation, _ := p.next(c, thread, "And now?")
	require.NotEqual(t, "user: The metrics endpoint listens on port 9137.", conversation[0])

	c.call("thread/memoryMode/set", object{"threadId": thread, "mode": "disabled"})
	c.turn(thread, "Off?")
	require.NotContains(t, p.asked()[7].tools(), "recall")
	c.close()
}

// TestBinaryHasTheModelSummarise: what leaves a context goes to the model, and what that writes
// is kept; where it fails there is a summary without it, and one warning.
func TestBinaryHasTheModelSummarise(t *testing.T) { onBothWires(t, binaryHasTheModelSummarise) }

func binaryHasTheModelSummarise(t *testing.T, on wireAPI) {
	t.Parallel()
	p := on.provider(t, says("Noted."), says("Done."), says("- The metrics endpoint is on 9137, for the dashboards.")) // and no more answers
	home := p.home(t)
	c := startServer(t, home, "-c", "memory.summarize_on_prune=true", "-c", "memory.summarizer=model")
	c.initialize()
	thread := c.startThread(object{"cwd": t.TempDir(), "approvalPolicy": "never"})
	c.turn(thread, "The metrics endpoint listens on port 9137.")
	c.turn(thread, "And now the parser, please.")
	for _, index := range []int{1, 3} {
		c.call("context/setInclusion", object{"threadId": thread, "indices": []int{index}, "included": false})
		c.untilMethod("memory/updated")
	}
	require.Contains(t, p.asked()[2].Body, "port 9137")
	require.NotContains(t, p.asked()[2].Body, "parser")
	var page protocol.MemoryListResponse
	require.NoError(t, json.Unmarshal(c.call("memory/list", object{"sessionId": thread}), &page))
	require.Len(t, page.Data, 2)
	require.Contains(t, page.Data[0].Text, "parser", "made without the model")
	require.Equal(t, "- The metrics endpoint is on 9137, for the dashboards.", page.Data[1].Text)
	require.Equal(t, []string{"r6"}, page.Data[1].ItemIDs)
	c.close()
}

// TestBinaryKeepsTheModeOfTheMemory over a restart, of threads that are not loaded, too.
func TestBinaryKeepsTheModeOfTheMemory(t *testing.T) {
	t.Parallel()
	p := newProvider(t, counting(9)...)
	home := p.home(t)
	c := startServer(t, home, remembering...)
	c.initialize()
	thread := c.startThread(object{"cwd": "/", "approvalPolicy": "never"})
	c.turns(thread, 2)
	c.turn(thread, "The metrics endpoint listens on port 9137.")
	require.Contains(t, c.refused("thread/memoryMode/set", object{"threadId": thread, "mode": "polluted"}).Message, "polluted")
	require.Contains(t, c.refused("thread/memoryMode/set", object{"threadId": thread}).Message, "mode")
	require.Contains(t, c.refused("thread/memoryMode/set", object{"threadId": "01990000-0000-7000-8000-000000000000", "mode": "enabled"}).Message, "no rollout found")
	c.kill()
	c = startServer(t, home, remembering...)
	c.initialize()
	c.call("thread/memoryMode/set", object{"threadId": thread, "mode": "disabled"})
	c.kill()
	c = startServer(t, home, remembering...)
	c.initialize()
	c.call("thread/resume", object{"threadId": thread, "excludeTurns": true})
	c.call("thread/context/trim", object{"threadId": thread, "keepLastNTurns": 1})
	c.call("thread/memoryMode/set", object{"threadId": thread, "mode": "enabled"})
	c.call("thread/context/trim", object{"threadId": thread, "keepLastNTurns": 0})
	c.untilMethod("memory/updated")
	var page protocol.MemoryListResponse
	require.NoError(t, json.Unmarshal(c.call("memory/list", object{}), &page))
	require.Len(t, page.Data, 1, "of the last turn alone")
	require.Contains(t, page.Data[0].Text, "9137")
	c.close()
}
