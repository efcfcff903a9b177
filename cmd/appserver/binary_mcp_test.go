package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// mcpProgram is a server of the Model Context Protocol, built once for all tests.
var mcpProgram = sync.OnceValues(func() (string, error) { return build("mcp-server", "../../core/mcp/testdata/server") })

// homeWithServers is a home whose model answers by the steps, and whose servers are docs and,
// as the text says, others.
func homeWithServers(t *testing.T, steps, servers string) string {
	t.Helper()
	program, err := mcpProgram()
	require.NoError(t, err)
	home := t.TempDir()
	writeConfig(t, home, "model_provider = \"offline\"\n[model_providers.offline]\nscript = \"script.json\"\n"+strings.ReplaceAll(servers, "PROGRAM", program))
	require.NoError(t, os.WriteFile(filepath.Join(home, "script.json"), []byte(`{"steps":[`+steps+`]}`), 0o600))
	return home
}

const docsServer = "[mcp_servers.docs]\ncommand = \"PROGRAM\"\n"

// scriptCalls is a step that calls a tool of docs, and one that ends the turn.
func scriptCalls(name, arguments string) string {
	return fmt.Sprintf(`{"toolCalls":[{"name":"mcp__docs__%s","arguments":%s}]},{"text":"Done."}`, name, arguments)
}

// untilCalled is the item of the next call of a tool that has ended.
func (c *client) untilCalled() gjson.Result {
	return gjson.GetBytes(c.until(func(m message) bool {
		return m.Method == "item/completed" && gjson.GetBytes(m.Params, "item.type").Str == "mcpToolCall"
	}).Params, "item")
}

func TestBinaryCallsToolsOfServers(t *testing.T) {
	t.Parallel()
	home := homeWithServers(t, scriptCalls("echo", `{"x":1}`)+","+scriptCalls("write", `{"y":2}`)+","+scriptCalls("crash", `{}`)+","+scriptCalls("echo", `{"again":true}`), docsServer)
	c := startServer(t, home)
	c.initialize()
	id := c.startThread(object{"cwd": t.TempDir(), "sandbox": "read-only"})
	c.beginTurn(id, "look")
	called := c.untilCalled()
	require.Equal(t, "completed", called.Get("status").Str)
	require.Equal(t, `echo {"x":1}`, called.Get("result.content.0.text").Str)
	c.awaitTurn()

	c.onAsk = func(m message) any {
		require.Equal(t, "mcpServer/elicitation/request", m.Method)
		require.Equal(t, "write", gjson.GetBytes(m.Params, "_meta.tool_name").Str)
		return object{"action": "accept", "content": object{}, "_meta": nil}
	}
	c.beginTurn(id, "write")
	require.Equal(t, "written", c.untilCalled().Get("result.content.0.text").Str)
	c.awaitTurn()

	c.beginTurn(id, "crash")
	require.Contains(t, c.untilCalled().Get("error.message").Str, "the connection to the server was lost")
	require.Equal(t, "completed", c.awaitTurn().Status, "a server that crashes fails its call, and not the turn")
	c.beginTurn(id, "look again")
	require.Equal(t, `echo {"again":true}`, c.untilCalled().Get("result.content.0.text").Str, "it is started again")
	c.awaitTurn()
	before := c.readThread(id)
	c.close()

	d := startServer(t, home)
	d.initialize()
	d.call("thread/resume", object{"threadId": id})
	require.Equal(t, before.Turns, d.readThread(id).Turns, "the rollout has the calls")
	d.close()
}

// A thread and a turn begin at once, whatever a server does, and the turn gets the tools of
// those that work.
func TestBinaryWaitsForNoServer(t *testing.T) {
	t.Parallel()
	home := homeWithServers(t, scriptCalls("echo", `{}`), docsServer+
		"[mcp_servers.never]\ncommand = \"PROGRAM\"\nargs = [\"-never\"]\n[mcp_servers.broken]\ncommand = \"PROGRAM\"\nargs = [\"-fail\"]\n[mcp_servers.absent]\ncommand = \"/no/such/program\"\n")
	c := startServer(t, home, "-c", "mcp_optional_startup_grace_ms=300")
	c.initialize()
	begin := time.Now()
	id := c.startThread(object{"cwd": t.TempDir()})
	require.Less(t, time.Since(begin), 2*time.Second)
	c.beginTurn(id, "look")
	require.Equal(t, "completed", c.untilCalled().Get("status").Str)
	require.Equal(t, "completed", c.awaitTurn().Status)
	require.Less(t, time.Since(begin), 8*time.Second, "before the one that never answers has timed out")
	states := map[string]string{}
	data := gjson.GetBytes(c.call("mcpServerStatus/list", object{"threadId": id, "serverName": "broken"}), "data")
	for _, s := range data.Array() {
		states[s.Get("name").Str] = s.Get("toolsError").Str
	}
	require.Contains(t, states["broken"], "no database")
	begin = time.Now()
	c.close()
	require.Less(t, time.Since(begin), 3*time.Second)
}

// What a program of a server has started ends with appserver, however that ends.
func TestBinaryLeavesNothingOfServersBehind(t *testing.T) {
	t.Parallel()
	for _, end := range []func(c *client){(*client).close, (*client).kill} {
		c := startServer(t, homeWithServers(t, scriptCalls("child", `{}`), docsServer))
		c.initialize()
		id := c.startThread(object{"cwd": t.TempDir()})
		c.beginTurn(id, "go")
		pid := c.untilCalled().Get("result.content.0.text").Str
		require.DirExists(t, "/proc/"+pid)
		c.awaitTurn()
		end(c)
		require.Eventually(t, func() bool {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			return err != nil || strings.Contains(string(stat), ") Z ")
		}, 5*time.Second, 10*time.Millisecond)
	}
}

func TestBinaryGivesServersLittleOfItsEnvironment(t *testing.T) {
	t.Parallel()
	home := homeWithServers(t, scriptCalls("environment", `{}`), docsServer+"env = { OWN = \"1\" }\nenv_vars = [\"PASSED\"]\n")
	cmd := serverCommand(t, home)
	cmd.Env = append(cmd.Env, "PASSED=yes", "SECRET_THING=no", "OPENAI_API_KEY=no")
	c := dial(t, cmd)
	c.initialize()
	dir := t.TempDir()
	id := c.startThread(object{"cwd": dir})
	c.beginTurn(id, "look")
	lines := strings.Split(c.untilCalled().Get("result.content.0.text").Str, "\n")
	require.Contains(t, lines, "PASSED=yes")
	require.Contains(t, lines, "OWN=1")
	require.Contains(t, lines, "cwd="+dir)
	for _, line := range lines {
		require.NotContains(t, line, "=no")
		require.NotContains(t, line, "CODEX_HOME")
	}
	c.awaitTurn()
	c.close()
}

func TestBinaryAnswersAboutServers(t *testing.T) {
	t.Parallel()
	home := homeWithServers(t, scriptCalls("ask", `{}`), docsServer)
	c := startServer(t, home)
	c.initialize()
	list := gjson.GetBytes(c.call("mcpServerStatus/list", object{}), "data")
	require.Equal(t, "docs", list.Get("0.name").Str)
	require.Equal(t, gjson.Null, list.Get("0.runtimeStatus").Type)
	require.Equal(t, "mem://a", list.Get("0.resources.0.uri").Str)
	require.Equal(t, "content of a", gjson.GetBytes(c.call("mcpServer/resource/read", object{"server": "docs", "uri": "mem://a"}), "contents.0.text").Str)
	id := c.startThread(object{"cwd": t.TempDir()})
	result := gjson.ParseBytes(c.call("mcpServer/tool/call", object{"threadId": id, "server": "docs", "tool": "fail"}))
	require.True(t, result.Get("isError").Bool())
	require.Contains(t, c.refused("mcpServer/tool/call", object{"threadId": id, "server": "none", "tool": "x"}).Message, "unknown MCP server 'none'")
	require.Contains(t, c.refused("mcpServer/resource/read", object{"server": "docs", "uri": "mem://b"}).Message, "no such thing")
	require.Contains(t, c.refused("mcpServerStatus/list", object{"cursor": "junk"}).Message, "invalid cursor")
	require.Contains(t, c.refused("mcpServer/tool/call", object{"threadId": "01a200bc-c8a8-7580-b377-50bfa85c2a7f", "server": "docs", "tool": "x"}).Message, "thread not found")

	c.onAsk = func(message) any { return object{"action": "accept", "content": object{"name": "Ada"}} }
	c.beginTurn(id, "ask me")
	require.Equal(t, "accept Ada", c.untilCalled().Get("result.content.0.text").Str)
	c.awaitTurn()

	program, err := mcpProgram()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	writeConfig(t, home, string(text)+fmt.Sprintf("[mcp_servers.more]\ncommand = %q\n", program))
	c.call("config/mcpServer/reload", nil)
	c.until(func(m message) bool {
		return m.Method == "mcpServer/startupStatus/updated" && gjson.GetBytes(m.Params, "name").Str == "more" && gjson.GetBytes(m.Params, "status").Str == "ready"
	})
	c.close()
}

// A client may bring servers of its own, for one thread.
func TestBinaryTakesServersFromThreads(t *testing.T) {
	t.Parallel()
	program, err := mcpProgram()
	require.NoError(t, err)
	c := startServer(t, homeWithServers(t, scriptCalls("echo", `{}`), ""))
	c.initialize()
	id := c.startThread(object{"cwd": t.TempDir(), "config": object{"mcp_servers": object{"docs": object{"command": program}}}})
	c.beginTurn(id, "look")
	require.Equal(t, "completed", c.untilCalled().Get("status").Str)
	c.awaitTurn()
	other := c.startThread(object{"cwd": t.TempDir()})
	require.Empty(t, gjson.GetBytes(c.call("mcpServerStatus/list", object{"threadId": other}), "data").Array())
	c.close()
}

// plainServer answers calls of its tools plain and told. Only the latter's result has isError.
const plainServer = `#!/bin/sh
while read -r line; do
	id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
	answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
	case "$line" in
	*'"initialize"'*) answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"plain","version":"1"}}' ;;
	*'"tools/list"'*) answer '{"tools":[{"name":"plain","inputSchema":{"type":"object"}},{"name":"told","inputSchema":{"type":"object"}}]}' ;;
	*'"name":"told"'*) answer '{"content":[],"isError":false,"_meta":{"m":1}}' ;;
	*'"tools/call"'*) answer '{"content":[]}' ;;
	esac
done
`

// TestBinaryGivesIsErrorAsTheServerWroteIt in answers to mcpServer/tool/call.
func TestBinaryGivesIsErrorAsTheServerWroteIt(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(program, []byte(plainServer), 0o700))
	c := startServer(t, homeWithServers(t, "", "[mcp_servers.plain]\ncommand = \""+program+"\"\n"))
	c.initialize()
	id := c.startThread(object{"cwd": t.TempDir()})
	for tool, want := range map[string]string{"plain": `{"content":[]}`, "told": `{"content":[],"isError":false,"_meta":{"m":1}}`} {
		require.JSONEq(t, want, string(c.call("mcpServer/tool/call", object{"threadId": id, "server": "plain", "tool": tool})))
	}
}
