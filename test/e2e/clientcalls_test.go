package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestForkKeepsClientTools forks a thread, and replaces one. Both have the client's tools and the
// outputs of earlier calls.
func TestForkKeepsClientTools(t *testing.T) {
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "ticket", `{}`), apptest.TextAnswer("One."),
		apptest.ToolAnswer("c2", "ticket", `{}`), apptest.TextAnswer("Two."), apptest.ToolAnswer("c3", "ticket", `{}`),
		apptest.TextAnswer("Three."))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	calls := 0
	c.OnRequest = func(m apptest.Message) any {
		calls++
		return apptest.Object{"contentItems": []apptest.Object{{"type": "inputText", "text": fmt.Sprint("answer ", calls)}},
			"success": true}
	}
	first := c.StartThread(ticketTool())
	c.Turn(first, "look")
	fork := c.CallThread("thread/fork", apptest.Object{"threadId": first})
	require.Contains(t, string(fork.Turns[0].Items[1]), `"dynamicToolCall"`)
	c.Turn(fork.ID, "look again")
	require.Equal(t, "answer 2", p.Requests()[3].LastMessage(t).Content)
	require.Contains(t, p.Requests()[3].Body, "answer 1")
	next := c.CallThread("thread/archiveAndNew", apptest.Object{"threadId": first}).ID
	require.NotEqual(t, first, next)
	c.Turn(next, "look")
	require.Equal(t, "answer 3", p.Requests()[5].LastMessage(t).Content)
	require.NotContains(t, p.Requests()[5].Body, "answer 1")
	c.Close()
}

// TestUnexpectedResponsesAreIgnored sends responses to answered and unknown requests, and invalid
// ones. The turn continues.
func TestUnexpectedResponsesAreIgnored(t *testing.T) {
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "ticket", `{}`), apptest.TextAnswer("Done."),
		apptest.TextAnswer("Well."))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	thread := c.StartThread(ticketTool())
	c.BeginTurn(thread, "look")
	request := c.Until(isAsk("item/tool/call"))
	answer := apptest.Object{"contentItems": []apptest.Object{{"type": "inputText", "text": "open"}}, "success": true}
	for _, id := range []any{"x", 4711, -1, fmt.Sprint(string(request.ID), "0"), 1.5} {
		c.Send(apptest.Object{"id": id, "result": answer})
	}
	c.Send(apptest.Object{"id": request.ID, "result": answer})
	c.Send(apptest.Object{"id": request.ID, "result": apptest.Object{"contentItems": []apptest.Object{},
		"success": false}})
	c.Send(apptest.Object{"id": request.ID, "error": apptest.Object{"code": 1, "message": "no"}})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	require.Equal(t, "open", p.Requests()[1].LastMessage(t).Content)
	require.Equal(t, "completed", c.Turn(thread, "well").Status)
	resolved, completed := 0, 0
	for _, m := range c.Seen {
		switch {
		case m.Method == "serverRequest/resolved":
			resolved++
		case m.Method == "item/completed" && strings.Contains(m.Line, "dynamicToolCall"):
			completed++
		}
	}
	require.Equal(t, 1, resolved)
	require.Equal(t, 1, completed)
	c.Close()
}

// TestInvalidClientToolsRejectThread starts threads with tools that no provider would accept.
func TestInvalidClientToolsRejectThread(t *testing.T) {
	c := apptest.StartOffline(t, t.TempDir())
	tool := func(name string, schema any) apptest.Object {
		return apptest.Object{"type": "function", "name": name, "description": "d", "inputSchema": schema}
	}
	for name, tools := range map[string]any{
		"no list":             apptest.Object{},
		"no name":             []apptest.Object{{"type": "function", "description": "d", "inputSchema": apptest.Object{}}},
		"an odd type":         []apptest.Object{{"type": "macro", "name": "a"}},
		"ours":                []apptest.Object{tool("shell", apptest.Object{})},
		"twice":               []apptest.Object{tool("a", apptest.Object{}), tool("a", apptest.Object{})},
		"a dot":               []apptest.Object{tool("a.b", apptest.Object{})},
		"no schema":           []apptest.Object{{"type": "function", "name": "a", "description": "d"}},
		"a text for a schema": []apptest.Object{tool("a", "{}")},
		"long":                []apptest.Object{tool(strings.Repeat("a", 65), apptest.Object{})},
		"a newline":           []apptest.Object{tool("a\n", apptest.Object{})}, "null": []any{nil},
	} {
		err := c.CallRejected("thread/start", apptest.Object{"dynamicTools": tools})
		require.Equal(t, "invalidParams", err.Data.Kind, name)
		require.Contains(t, err.Data.Field, "dynamicTools", name)
	}
	var list struct{ Data []json.RawMessage }
	require.NoError(t, json.Unmarshal(c.Call("thread/loaded/list", apptest.Object{}), &list))
	require.Empty(t, list.Data)
	var many []apptest.Object
	for i := range 200 {
		many = append(many, tool(fmt.Sprint("tool-", i), apptest.Object{"type": "object"}))
	}
	require.Equal(t, "completed", c.Turn(c.StartThread(apptest.Object{"dynamicTools": many}), "hello").Status)
	c.Close()
}

// TestClientToolCallIsContextItem excludes and includes a call of a client's tool and its output.
// The shown item does not change.
func TestClientToolCallIsContextItem(t *testing.T) {
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "ticket", `{"id":"7"}`), apptest.TextAnswer("One."),
		apptest.TextAnswer("Two."), apptest.TextAnswer("Three."), apptest.TextAnswer("Four."))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	c.OnRequest = func(apptest.Message) any {
		return apptest.Object{"contentItems": []apptest.Object{{"type": "inputText", "text": "the door is broken"}},
			"success": true}
	}
	thread := c.StartThread(ticketTool())
	c.Turn(thread, "look")
	var ids []string
	for _, item := range c.ContextList(thread).Items {
		if item.CallID != nil {
			require.Equal(t, "ticket", *item.ToolName)
			ids = append(ids, item.ID)
		}
	}
	require.Len(t, ids, 2, "the call, and its output")
	c.Call("context/setInclusion", apptest.Object{"threadId": thread, "ids": ids[1:], "included": false})
	c.Turn(thread, "without the output")
	require.NotContains(t, p.Requests()[2].Body, "the door is broken")
	require.Contains(t, p.Requests()[2].Body, "c1", "most providers reject a call without an output")
	c.Call("context/pruneByIndices", apptest.Object{"threadId": thread, "ids": ids[:1]})
	c.Turn(thread, "without the call")
	require.NotContains(t, p.Requests()[3].Body, `"c1"`)
	require.Contains(t, string(c.ReadThread(thread).Turns[0].Items[1]), "the door is broken")
	c.Call("context/undo", apptest.Object{"threadId": thread})
	c.Call("context/undo", apptest.Object{"threadId": thread})
	c.Turn(thread, "with both")
	require.Contains(t, p.Requests()[4].Body, "the door is broken")
	c.Close()
}
