package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
)

// TestCompactedItemsReturn searches a call that a compaction took out and includes it again. The next requests have it,
// also after a restart, until an undo. A rewritten rollout has it in the history of the compaction.
func TestCompactedItemsReturn(t *testing.T) { apptest.OnBothWires(t, testCompactedItemsReturn) }

func testCompactedItemsReturn(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	p := on.NewProvider(t, apptest.ShellAnswer("c1", "echo the port is $((9000+137))"), apptest.TextAnswer("Read."),
		apptest.TextAnswer("Done."), apptest.TextAnswer("It is 9137."), apptest.TextAnswer("Still."),
		apptest.TextAnswer("Gone."))
	home := p.Home(t)
	c := apptest.StartServer(t, home, "-c", "compaction.keep_turns=1")
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "Read the configuration.")
	c.Turn(thread, "And now the parser.")
	c.Call("thread/compact/start", apptest.Object{"threadId": thread, "strategy": "userMessages"})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	compacted := apptest.PromptOf(c, thread)
	require.NotContains(t, compacted, "9137")

	var found protocol.ContextSearchResponse
	require.NoError(t, json.Unmarshal(c.Call("context/search", apptest.Object{"threadId": thread, "query": "port is 9137",
		"includeRemoved": true}), &found))
	require.Len(t, found.IDs, 1, "the output; its call does not have the number")
	edit := apptest.Object{"type": "setInclusion", "ids": found.IDs, "included": true}
	preview := gjson.ParseBytes(c.Call("context/preview", apptest.Object{"threadId": thread, "edits": []any{edit}}))
	require.Len(t, preview.Get("changes").Array(), 2, "the call and its output: %s", preview)
	edit["threadId"] = thread
	included := gjson.ParseBytes(c.Call("context/setInclusion", edit))
	require.EqualValues(t, 2, included.Get("changed").Int())
	require.Equal(t, preview.Get("after").Raw, included.Get("usage").Raw)

	returned, _ := p.NextRequest(c, thread, "Which port is it?")
	requireReturned(t, returned)
	path := c.ReadThread(thread).Path
	c.Close()
	if !apptest.UsesDatabase() {
		requireInHistory(t, path)
	}

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": thread})
	again, _ := p.NextRequest(c, thread, "Still there?")
	require.Equal(t, returned, again[:len(returned)])
	c.Call("context/undo", apptest.Object{"threadId": thread})
	gone, _ := p.NextRequest(c, thread, "And now?")
	require.NotContains(t, strings.Join(gone, "\n"), "the port is 9137")
	c.Close()

	out, _ := apptest.ContextCommand(t, home, 0, "include", thread, found.IDs[0])
	require.Contains(t, out, "Included 2 items.")
	out, _ = apptest.ContextCommand(t, home, 0, "include", thread, "r99999")
	require.Contains(t, out, "the thread has no such item")
}

// requireReturned requires the call, directly followed by its output, in a conversation.
func requireReturned(t *testing.T, conversation []string) {
	t.Helper()
	inOrder(t, strings.Join(conversation, "\n"), "assistant: ", "tool: Exit code: 0", "the port is 9137", "And now the parser.")
}

// requireInHistory requires that the compaction of a rewritten rollout has the call and its output.
func requireInHistory(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var kinds []string
	for line := range strings.Lines(string(text)) {
		if gjson.Get(line, "type").Str != protocol.LineCompacted {
			continue
		}
		for _, item := range gjson.Get(line, "payload.replacement_history").Array() {
			kinds = append(kinds, item.Get("type").Str)
		}
	}
	require.Subset(t, kinds, []string{"function_call", "function_call_output"}, "%s", text)
}

// TestRevertedItemsDoNotReturn requires an error that names the item, and no change.
func TestRevertedItemsDoNotReturn(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, countingAnswers(2)...)
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	thread := c.StartTrusted()
	c.RunTurns(thread, 2)
	list := c.ContextList(thread)
	last := list.Items[len(list.Items)-1].ID
	c.Call("thread/rollback", apptest.Object{"threadId": thread, "numTurns": 1})
	before := c.ContextList(thread)
	refused := c.CallRejected("context/setInclusion",
		apptest.Object{"threadId": thread, "ids": []string{last}, "included": true})
	require.Equal(t, string(protocol.KindNotReturnable), refused.Data.Kind)
	require.Contains(t, refused.Message, last+" cannot be included again. Its turn was reverted.")
	require.Equal(t, before, c.ContextList(thread))
	c.Close()
}
