package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// homeOfDocs is a home with the provider, and docs as its MCP server.
func (p *provider) homeOfDocs(t *testing.T) string {
	t.Helper()
	program, err := mcpProgram()
	require.NoError(t, err)
	home := p.home(t)
	text, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	writeConfig(t, home, string(text)+strings.ReplaceAll(docsServer, "PROGRAM", program))
	return home
}

// endedPid tells whether a process is no more.
func endedPid(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// TestBinaryContextOfAServersCall: the call and its output are parts of the context as any.
func TestBinaryContextOfAServersCall(t *testing.T) {
	t.Parallel()
	p := newProvider(t, callsTool("c1", "mcp__docs__echo", `{"word":"magpie"}`), says("One."), says("Two."), says("Three."), says("Four."))
	c := startServer(t, p.homeOfDocs(t))
	c.initialize()
	thread := c.startThread(object{"cwd": t.TempDir()})
	c.turn(thread, "look")
	var ids []string
	for _, item := range c.contextList(thread).Items {
		if item.CallID != nil {
			ids = append(ids, item.ID)
		}
	}
	require.Len(t, ids, 2, "the call, and its output")
	c.call("context/setInclusion", object{"threadId": thread, "ids": ids[1:], "included": false})
	c.turn(thread, "without the output")
	require.NotContains(t, p.asked()[2].Body, "echo {")
	require.Contains(t, p.asked()[2].Body, "magpie", "the call is there, with an output that says nothing")
	c.call("context/pruneByIndices", object{"threadId": thread, "ids": ids[:1]})
	c.turn(thread, "without the call")
	require.NotContains(t, p.asked()[3].Body, "magpie")
	require.Equal(t, "mcpToolCall", gjson.GetBytes(c.readThread(thread).Turns[0].Items[1], "type").Str, "people see it all the time")
	c.call("context/undo", object{"threadId": thread})
	c.call("context/undo", object{"threadId": thread})
	c.turn(thread, "with both")
	require.Contains(t, p.asked()[4].Body, "echo {")
	require.Contains(t, p.asked()[4].Body, `"mcp__docs__echo"`, "under the name that it is offered by")
	c.close()
}

// A reviewer is offered no server's tools, and gets none by guessing its name.
func TestBinaryReviewsUseNoServers(t *testing.T) {
	t.Parallel()
	p := newProvider(t, says("One."), callsTool("c1", "mcp__docs__echo", `{}`), says(`{"findings":[],"overall_explanation":"Well."}`))
	c := startServer(t, p.homeOfDocs(t))
	c.initialize()
	thread := c.startThread(object{"cwd": t.TempDir()})
	c.turn(thread, "hello")
	require.Contains(t, p.asked()[0].Body, "mcp__docs__echo")
	c.call("review/start", object{"threadId": thread, "target": object{"type": "custom", "instructions": "look at it"}})
	require.Equal(t, "completed", c.awaitTurn().Status)
	require.NotContains(t, p.asked()[1].Body, "mcp__docs__")
	require.Contains(t, p.asked()[2].Body, "in a review")
	c.close()
}

// A fork and its origin have connections of their own; an archived thread has none, and one
// that comes back is connected again.
func TestBinaryServersFollowThreads(t *testing.T) {
	t.Parallel()
	p := newProvider(t, callsTool("c1", "mcp__docs__child", `{}`), says("One."), callsTool("c2", "mcp__docs__child", `{}`), says("Two."), callsTool("c3", "mcp__docs__echo", `{}`), says("Three."))
	c := startServer(t, p.homeOfDocs(t))
	c.initialize()
	thread := c.startThread(object{"cwd": t.TempDir()})
	c.beginTurn(thread, "one")
	first := c.untilCalled().Get("result.content.0.text").Str
	c.awaitTurn()
	fork := c.threadOf("thread/fork", object{"threadId": thread})
	require.Equal(t, first, gjson.GetBytes(fork.Turns[0].Items[1], "result.content.0.text").Str, "what was called before is told")
	c.beginTurn(fork.ID, "two")
	second := c.untilCalled().Get("result.content.0.text").Str
	c.awaitTurn()
	require.NotEqual(t, first, second)

	c.call("thread/archive", object{"threadId": fork.ID})
	require.Eventually(t, func() bool { return endedPid(second) }, 10*time.Second, 10*time.Millisecond)
	require.False(t, endedPid(first), "those of the other thread go on")
	require.Contains(t, c.refused("mcpServer/tool/call", object{"threadId": fork.ID, "server": "docs", "tool": "echo"}).Message, "thread not found")

	c.call("thread/unarchive", object{"threadId": fork.ID})
	c.call("thread/resume", object{"threadId": fork.ID})
	c.beginTurn(fork.ID, "three")
	require.Equal(t, "completed", c.untilCalled().Get("status").Str)
	c.awaitTurn()
	c.close()
}

// What a server writes is not the turn's; a checkpoint knows it as anything that others write.
func TestBinaryFilesOfServersAreNotTheTurns(t *testing.T) {
	t.Parallel()
	p := newProvider(t, callsTool("c1", "shell", `{"command":"touch before"}`), callsTool("c2", "mcp__docs__scribble", `{}`), callsTool("c3", "shell", `{"command":"touch after"}`), says("One."))
	c := startServer(t, p.homeOfDocs(t))
	c.initialize()
	repository := newRepository(t)
	thread := c.startThread(object{"cwd": repository.dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	turn := c.beginTurn(thread, "scribble")
	end := c.until(func(m message) bool { return m.Method == "turn/completed" })
	require.Equal(t, `["after","before"]`, gjson.GetBytes(end.Params, "metadata.diff.files.#.path").Raw)
	require.FileExists(t, filepath.Join(repository.dir, "scribbled.txt"))
	require.NotContains(t, c.get("thread/diff/read", object{"threadId": thread, "turnId": turn}).Get("diff").Str, "scribbled")
	require.Contains(t, c.get("thread/checkpoint/diff", object{"threadId": thread, "turnId": turn}).Get("diff").Str, "scribbled.txt", "it is other than at the checkpoint")
	c.revertTo(thread, turn, "files")
	require.NoFileExists(t, filepath.Join(repository.dir, "before"))
	require.FileExists(t, filepath.Join(repository.dir, "scribbled.txt"), "what is not the turn's is left alone")
	c.close()
}

func TestBinaryRefusesCallsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	c := startServer(t, newProvider(t).homeOfDocs(t))
	c.initialize()
	id := c.startThread(object{"cwd": t.TempDir()})
	for _, params := range []object{
		{}, {"threadId": id}, {"threadId": id, "server": "docs"}, {"threadId": id, "tool": "echo"}, {"threadId": id, "server": 1, "tool": "echo"},
		{"threadId": "nobody", "server": "docs", "tool": "echo"},
	} {
		f := c.refused("mcpServer/tool/call", params)
		require.Contains(t, []int{-32600, -32602}, f.Code, "%v: %s", params, f.Message)
	}
	require.Contains(t, c.refused("mcpServer/tool/call", object{"threadId": id, "server": "docs", "tool": "nothing"}).Message, "nothing")
	for _, arguments := range []any{"text", 7, []int{1}, true} {
		f := c.refused("mcpServer/tool/call", object{"threadId": id, "server": "docs", "tool": "echo", "arguments": arguments})
		require.Contains(t, f.Message, "`arguments`: expected an object")
		require.Equal(t, "arguments", f.Data.Field)
	}
	require.NotEmpty(t, c.refused("mcpServer/resource/read", object{"server": "docs"}).Message)
	require.NotEmpty(t, c.refused("mcpServerStatus/list", object{"limit": "many"}).Message)
	require.Empty(t, gjson.GetBytes(c.call("mcpServerStatus/list", object{"threadId": id, "serverName": "none"}), "data").Array())
	result := gjson.ParseBytes(c.call("mcpServer/tool/call", object{"threadId": id, "server": "docs", "tool": "echo", "arguments": nil}))
	require.Equal(t, "echo {}", result.Get("content.0.text").Str, "after all of that it works")
	c.close()
}

// Answers that belong to no question, come twice, or when the turn is over, change nothing.
func TestBinaryStrayAnswersToServersChangeNothing(t *testing.T) {
	t.Parallel()
	p := newProvider(t, callsTool("c1", "mcp__docs__ask", `{}`), says("One."), callsTool("c2", "mcp__docs__ask", `{}`), says("Two."))
	c := startServer(t, p.homeOfDocs(t))
	c.initialize()
	thread := c.startThread(object{"cwd": t.TempDir()})
	c.beginTurn(thread, "ask me")
	asked := c.until(isAsk("mcpServer/elicitation/request"))
	answer := func(name string) object {
		return object{"action": "accept", "content": object{"name": name}, "_meta": nil}
	}
	for _, id := range []any{"x", 4711, -1, fmt.Sprint(string(asked.ID), "0"), 1.5} {
		c.send(object{"id": id, "result": answer("Nobody")})
	}
	c.send(object{"id": asked.ID, "result": answer("Ada")})
	c.send(object{"id": asked.ID, "result": answer("Eve")})
	c.send(object{"id": asked.ID, "error": object{"code": 1, "message": "no"}})
	require.Equal(t, "accept Ada", c.untilCalled().Get("result.content.0.text").Str)
	require.Equal(t, "completed", c.awaitTurn().Status)

	turn := c.beginTurn(thread, "ask me again")
	late := c.until(isAsk("mcpServer/elicitation/request"))
	c.call("turn/interrupt", object{"threadId": thread, "turnId": turn})
	require.Equal(t, "interrupted", c.awaitTurn().Status)
	c.send(object{"id": late.ID, "result": answer("Late")})
	c.turn(thread, "go on")
	require.NotContains(t, p.asked()[3].Body, "Late")
	require.Contains(t, p.asked()[3].Body, "accept Ada")
	c.close()
}
