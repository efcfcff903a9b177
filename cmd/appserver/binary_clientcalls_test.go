package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBinaryForksKeepTheClientsTools: a fork, and a thread that takes another's place, have
// the tools of the first, and what came of its calls.
func TestBinaryForksKeepTheClientsTools(t *testing.T) {
	p := newProvider(t, callsTool("c1", "ticket", `{}`), says("One."), callsTool("c2", "ticket", `{}`), says("Two."), callsTool("c3", "ticket", `{}`), says("Three."))
	c := startServer(t, p.home(t))
	c.initialize()
	calls := 0
	c.onAsk = func(m message) any {
		calls++
		return object{"contentItems": []object{{"type": "inputText", "text": fmt.Sprint("answer ", calls)}}, "success": true}
	}
	first := c.startThread(ticketTool())
	c.turn(first, "look")
	fork := c.threadOf("thread/fork", object{"threadId": first})
	require.Contains(t, string(fork.Turns[0].Items[1]), `"dynamicToolCall"`)
	c.turn(fork.ID, "look again")
	require.Equal(t, "answer 2", p.asked()[3].last(t).Content)
	require.Contains(t, p.asked()[3].Body, "answer 1")
	next := c.threadOf("thread/archiveAndNew", object{"threadId": first}).ID
	require.NotEqual(t, first, next)
	c.turn(next, "look")
	require.Equal(t, "answer 3", p.asked()[5].last(t).Content)
	require.NotContains(t, p.asked()[5].Body, "answer 1")
	c.close()
}

// TestBinaryAnswersThatNobodyWaitsFor: for a request that was answered, that never was, or
// that is no answer: nothing comes of them, and the turn goes on.
func TestBinaryAnswersThatNobodyWaitsFor(t *testing.T) {
	p := newProvider(t, callsTool("c1", "ticket", `{}`), says("Done."), says("Well."))
	c := startServer(t, p.home(t))
	c.initialize()
	thread := c.startThread(ticketTool())
	c.beginTurn(thread, "look")
	asked := c.until(isAsk("item/tool/call"))
	answer := object{"contentItems": []object{{"type": "inputText", "text": "open"}}, "success": true}
	for _, id := range []any{"x", 4711, -1, fmt.Sprint(string(asked.ID), "0"), 1.5} {
		c.send(object{"id": id, "result": answer})
	}
	c.send(object{"id": asked.ID, "result": answer})
	c.send(object{"id": asked.ID, "result": object{"contentItems": []object{}, "success": false}})
	c.send(object{"id": asked.ID, "error": object{"code": 1, "message": "no"}})
	require.Equal(t, "completed", c.awaitTurn().Status)
	require.Equal(t, "open", p.asked()[1].last(t).Content)
	require.Equal(t, "completed", c.turn(thread, "well").Status)
	resolved, completed := 0, 0
	for _, m := range c.seen {
		switch {
		case m.Method == "serverRequest/resolved":
			resolved++
		case m.Method == "item/completed" && strings.Contains(m.line, "dynamicToolCall"):
			completed++
		}
	}
	require.Equal(t, 1, resolved)
	require.Equal(t, 1, completed)
	c.close()
}

// TestBinaryToolsAreRefusedByName: tools that no model could be offered start no thread.
func TestBinaryToolsAreRefusedByName(t *testing.T) {
	c := startOffline(t, t.TempDir())
	tool := func(name string, schema any) object {
		return object{"type": "function", "name": name, "description": "d", "inputSchema": schema}
	}
	for name, tools := range map[string]any{
		"no list": object{}, "no name": []object{{"type": "function", "description": "d", "inputSchema": object{}}}, "an odd type": []object{{"type": "macro", "name": "a"}},
		"ours": []object{tool("shell", object{})}, "twice": []object{tool("a", object{}), tool("a", object{})}, "a dot": []object{tool("a.b", object{})},
		"no schema": []object{{"type": "function", "name": "a", "description": "d"}}, "a text for a schema": []object{tool("a", "{}")}, "long": []object{tool(strings.Repeat("a", 65), object{})},
		"a newline": []object{tool("a\n", object{})}, "null": []any{nil},
	} {
		err := c.refused("thread/start", object{"dynamicTools": tools})
		require.Equal(t, "invalidParams", err.Data.Kind, name)
		require.Contains(t, err.Data.Field, "dynamicTools", name)
	}
	var list struct{ Data []json.RawMessage }
	require.NoError(t, json.Unmarshal(c.call("thread/loaded/list", object{}), &list))
	require.Empty(t, list.Data)
	var many []object
	for i := range 200 {
		many = append(many, tool(fmt.Sprint("tool-", i), object{"type": "object"}))
	}
	require.Equal(t, "completed", c.turn(c.startThread(object{"dynamicTools": many}), "hello").Status)
	c.close()
}

// TestBinaryContextOfAClientsCall: the call and its output are parts of the context as any,
// to be left out and brought back; people see the call all the time.
func TestBinaryContextOfAClientsCall(t *testing.T) {
	p := newProvider(t, callsTool("c1", "ticket", `{"id":"7"}`), says("One."), says("Two."), says("Three."), says("Four."))
	c := startServer(t, p.home(t))
	c.initialize()
	c.onAsk = func(message) any {
		return object{"contentItems": []object{{"type": "inputText", "text": "the door is broken"}}, "success": true}
	}
	thread := c.startThread(ticketTool())
	c.turn(thread, "look")
	var ids []string
	for _, item := range c.contextList(thread).Items {
		if item.CallID != nil {
			require.Equal(t, "ticket", *item.ToolName)
			ids = append(ids, item.ID)
		}
	}
	require.Len(t, ids, 2, "the call, and its output")
	c.call("context/setInclusion", object{"threadId": thread, "ids": ids[1:], "included": false})
	c.turn(thread, "without the output")
	require.NotContains(t, p.asked()[2].Body, "the door is broken")
	require.Contains(t, p.asked()[2].Body, "c1", "a call without an output is an error of most providers")
	c.call("context/pruneByIndices", object{"threadId": thread, "ids": ids[:1]})
	c.turn(thread, "without the call")
	require.NotContains(t, p.asked()[3].Body, `"c1"`)
	require.Contains(t, string(c.readThread(thread).Turns[0].Items[1]), "the door is broken")
	c.call("context/undo", object{"threadId": thread})
	c.call("context/undo", object{"threadId": thread})
	c.turn(thread, "with both")
	require.Contains(t, p.asked()[4].Body, "the door is broken")
	c.close()
}
