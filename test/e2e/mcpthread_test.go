package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// homeOfDocs returns a home with the provider and the MCP server docs.
func homeOfDocs(p *apptest.Provider, t *testing.T) string {
	t.Helper()
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	home := p.Home(t)
	text, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	apptest.WriteConfig(t, home, string(text)+strings.ReplaceAll(apptest.DocsServerConfig, "PROGRAM", program))
	return home
}

// endedPid reports whether a process exited.
func endedPid(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// TestMCPCallIsContextItem excludes and includes a call of an MCP tool and its output.
func TestMCPCallIsContextItem(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "mcp__docs__echo", `{"word":"magpie"}`),
		apptest.TextAnswer("One."),
		apptest.TextAnswer("Two."), apptest.TextAnswer("Three."), apptest.TextAnswer("Four."))
	c := apptest.StartServer(t, homeOfDocs(p, t))
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	c.Turn(thread, "look")
	var ids []string
	for _, item := range c.ContextList(thread).Items {
		if item.CallID != nil {
			ids = append(ids, item.ID)
		}
	}
	require.Len(t, ids, 2, "the call, and its output")
	c.Call("context/setInclusion", apptest.Object{"threadId": thread, "ids": ids[1:], "included": false})
	c.Turn(thread, "without the output")
	require.NotContains(t, p.Requests()[2].Body, "echo {")
	require.Contains(t, p.Requests()[2].Body, "magpie", "the call is sent with a placeholder as its output")
	c.Call("context/pruneByIndices", apptest.Object{"threadId": thread, "ids": ids[:1]})
	c.Turn(thread, "without the call")
	require.NotContains(t, p.Requests()[3].Body, "magpie")
	require.Equal(t, "mcpToolCall", gjson.GetBytes(c.ReadThread(thread).Turns[0].Items[1], "type").Str,
		"the shown item does not change")
	c.Call("context/undo", apptest.Object{"threadId": thread})
	c.Call("context/undo", apptest.Object{"threadId": thread})
	c.Turn(thread, "with both")
	require.Contains(t, p.Requests()[4].Body, "echo {")
	require.Contains(t, p.Requests()[4].Body, `"mcp__docs__echo"`, "the call has the offered name")
	c.Close()
}

// TestMCPToolsAreNotForReviews requires that a reviewer is offered no MCP tools, and that a call by
// name fails.
func TestMCPToolsAreNotForReviews(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("One."), apptest.ToolAnswer("c1", "mcp__docs__echo", `{}`),
		apptest.TextAnswer(`{"findings":[],"overall_explanation":"Well."}`))
	c := apptest.StartServer(t, homeOfDocs(p, t))
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	c.Turn(thread, "hello")
	require.Contains(t, p.Requests()[0].Body, "mcp__docs__echo")
	c.Call("review/start",
		apptest.Object{"threadId": thread, "target": apptest.Object{"type": "custom", "instructions": "look at it"}})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	require.NotContains(t, p.Requests()[1].Body, "mcp__docs__")
	require.Contains(t, p.Requests()[2].Body, "in a review")
	c.Close()
}

// TestMCPConnectionsFollowThreads requires one connection each for a fork and its origin, none for
// an archived thread, and a new one after unarchiving.
func TestMCPConnectionsFollowThreads(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "mcp__docs__child", `{}`), apptest.TextAnswer("One."),
		apptest.ToolAnswer("c2", "mcp__docs__child", `{}`), apptest.TextAnswer("Two."),
		apptest.ToolAnswer("c3", "mcp__docs__echo", `{}`), apptest.TextAnswer("Three."))
	c := apptest.StartServer(t, homeOfDocs(p, t))
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	c.BeginTurn(thread, "one")
	first := untilCalled(c).Get("result.content.0.text").Str
	c.AwaitTurn()
	fork := c.CallThread("thread/fork", apptest.Object{"threadId": thread})
	require.Equal(t, first, gjson.GetBytes(fork.Turns[0].Items[1], "result.content.0.text").Str,
		"earlier calls are in the prompt")
	c.BeginTurn(fork.ID, "two")
	second := untilCalled(c).Get("result.content.0.text").Str
	c.AwaitTurn()
	require.NotEqual(t, first, second)

	c.Call("thread/archive", apptest.Object{"threadId": fork.ID})
	require.Eventually(t, func() bool { return endedPid(second) }, apptest.Timeout, 10*time.Millisecond)
	require.False(t, endedPid(first), "connections of the other thread stay")
	require.Contains(t, c.CallRejected("mcpServer/tool/call",
		apptest.Object{"threadId": fork.ID, "server": "docs", "tool": "echo"}).Message, "thread not found")

	c.Call("thread/unarchive", apptest.Object{"threadId": fork.ID})
	c.Call("thread/resume", apptest.Object{"threadId": fork.ID})
	c.BeginTurn(fork.ID, "three")
	require.Equal(t, "completed", untilCalled(c).Get("status").Str)
	c.AwaitTurn()
	c.Close()
}

// TestMCPFileChangesAreNotTheTurns lets an MCP server write a file. A checkpoint has the change as
// one of another author.
func TestMCPFileChangesAreNotTheTurns(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "shell", `{"command":"touch before"}`),
		apptest.ToolAnswer("c2", "mcp__docs__scribble", `{}`), apptest.ToolAnswer("c3", "shell", `{"command":"touch after"}`),
		apptest.TextAnswer("One."))
	c := apptest.StartServer(t, homeOfDocs(p, t))
	c.Initialize()
	repository := apptest.NewRepository(t)
	thread := c.StartThread(apptest.Object{"cwd": repository.Dir, "sandbox": "danger-full-access",
		"approvalPolicy": "never"})
	turn := c.BeginTurn(thread, "scribble")
	end := c.Until(func(m apptest.Message) bool { return m.Method == "turn/completed" })
	require.Equal(t, `["after","before"]`, gjson.GetBytes(end.Params, "metadata.diff.files.#.path").Raw)
	require.FileExists(t, filepath.Join(repository.Dir, "scribbled.txt"))
	require.NotContains(t, c.CallJSON("thread/diff/read",
		apptest.Object{"threadId": thread, "turnId": turn}).Get("diff").Str,
		"scribbled")
	require.Contains(t, c.CallJSON("thread/checkpoint/diff",
		apptest.Object{"threadId": thread, "turnId": turn}).Get("diff").Str, "scribbled.txt",
		"the file changed since the checkpoint")
	c.RevertTo(thread, turn, "files")
	require.NoFileExists(t, filepath.Join(repository.Dir, "before"))
	require.FileExists(t, filepath.Join(repository.Dir, "scribbled.txt"), "the file of another author stays")
	c.Close()
}

func TestMCPToolCallRejectsInvalidParams(t *testing.T) {
	t.Parallel()
	c := apptest.StartServer(t, homeOfDocs(apptest.NewProvider(t), t))
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	for _, params := range []apptest.Object{
		{}, {"threadId": id}, {"threadId": id, "server": "docs"}, {"threadId": id, "tool": "echo"},
		{"threadId": id, "server": 1, "tool": "echo"},
		{"threadId": "nobody", "server": "docs", "tool": "echo"},
	} {
		f := c.CallRejected("mcpServer/tool/call", params)
		require.Contains(t, []int{-32600, -32602}, f.Code, "%v: %s", params, f.Message)
	}
	require.Contains(t, c.CallRejected("mcpServer/tool/call",
		apptest.Object{"threadId": id, "server": "docs", "tool": "nothing"}).Message, "nothing")
	for _, arguments := range []any{"text", 7, []int{1}, true} {
		f := c.CallRejected("mcpServer/tool/call",
			apptest.Object{"threadId": id, "server": "docs", "tool": "echo", "arguments": arguments})
		require.Contains(t, f.Message, "`arguments`: expected an object")
		require.Equal(t, "arguments", f.Data.Field)
	}
	require.NotEmpty(t, c.CallRejected("mcpServer/resource/read", apptest.Object{"server": "docs"}).Message)
	require.NotEmpty(t, c.CallRejected("mcpServerStatus/list", apptest.Object{"limit": "many"}).Message)
	require.Empty(t, gjson.GetBytes(c.Call("mcpServerStatus/list", apptest.Object{"threadId": id, "serverName": "none"}),
		"data").Array())
	result := gjson.ParseBytes(c.Call("mcpServer/tool/call",
		apptest.Object{"threadId": id, "server": "docs", "tool": "echo", "arguments": nil}))
	require.Equal(t, "echo {}", result.Get("content.0.text").Str, "later calls work")
	c.Close()
}

// TestMCPUnexpectedResponsesAreIgnored sends responses without a request, twice, and after the
// turn.
func TestMCPUnexpectedResponsesAreIgnored(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "mcp__docs__ask", `{}`), apptest.TextAnswer("One."),
		apptest.ToolAnswer("c2", "mcp__docs__ask", `{}`), apptest.TextAnswer("Two."))
	c := apptest.StartServer(t, homeOfDocs(p, t))
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	c.BeginTurn(thread, "ask me")
	request := c.Until(isAsk("mcpServer/elicitation/request"))
	answer := func(name string) apptest.Object {
		return apptest.Object{"action": "accept", "content": apptest.Object{"name": name}, "_meta": nil}
	}
	for _, id := range []any{"x", 4711, -1, fmt.Sprint(string(request.ID), "0"), 1.5} {
		c.Send(apptest.Object{"id": id, "result": answer("Nobody")})
	}
	c.Send(apptest.Object{"id": request.ID, "result": answer("Ada")})
	c.Send(apptest.Object{"id": request.ID, "result": answer("Eve")})
	c.Send(apptest.Object{"id": request.ID, "error": apptest.Object{"code": 1, "message": "no"}})
	require.Equal(t, "accept Ada", untilCalled(c).Get("result.content.0.text").Str)
	require.Equal(t, "completed", c.AwaitTurn().Status)

	turn := c.BeginTurn(thread, "ask me again")
	late := c.Until(isAsk("mcpServer/elicitation/request"))
	c.Call("turn/interrupt", apptest.Object{"threadId": thread, "turnId": turn})
	require.Equal(t, "interrupted", c.AwaitTurn().Status)
	c.Send(apptest.Object{"id": late.ID, "result": answer("Late")})
	c.Turn(thread, "go on")
	require.NotContains(t, p.Requests()[3].Body, "Late")
	require.Contains(t, p.Requests()[3].Body, "accept Ada")
	c.Close()
}
