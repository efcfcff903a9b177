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
)

// homeWithServers returns a home whose model answers by the steps. Its MCP servers are docs and
// those in the text.
func homeWithServers(t *testing.T, steps, servers string) string {
	t.Helper()
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	home := t.TempDir()
	apptest.WriteConfig(t, home, "model_provider = \"offline\"\n[model_providers.offline]\nscript = \"script.json\"\n"+
		strings.ReplaceAll(servers, "PROGRAM", program))
	require.NoError(t, os.WriteFile(filepath.Join(home, "script.json"), []byte(`{"steps":[`+steps+`]}`), 0o600))
	return home
}

// scriptCalls returns a step that calls a tool of docs, and one that ends the turn.
func scriptCalls(name, arguments string) string {
	return fmt.Sprintf(`{"toolCalls":[{"name":"mcp__docs__%s","arguments":%s}]},{"text":"Done."}`, name, arguments)
}

// untilCalled reads until a tool call completes and returns its item.
func untilCalled(c *apptest.Client) gjson.Result {
	return gjson.GetBytes(c.Until(func(m apptest.Message) bool {
		return m.Method == "item/completed" && gjson.GetBytes(m.Params, "item.type").Str == "mcpToolCall"
	}).Params, "item")
}

func TestMCPToolsAreCalled(t *testing.T) {
	t.Parallel()
	home := homeWithServers(t, scriptCalls("echo", `{"x":1}`)+","+scriptCalls("write", `{"y":2}`)+","+
		scriptCalls("crash", `{}`)+","+scriptCalls("echo", `{"again":true}`), apptest.DocsServerConfig)
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir(), "sandbox": "read-only"})
	c.BeginTurn(id, "look")
	called := untilCalled(c)
	require.Equal(t, "completed", called.Get("status").Str)
	require.Equal(t, `echo {"x":1}`, called.Get("result.content.0.text").Str)
	c.AwaitTurn()

	c.OnRequest = func(m apptest.Message) any {
		require.Equal(t, "mcpServer/elicitation/request", m.Method)
		require.Equal(t, "write", gjson.GetBytes(m.Params, "_meta.tool_name").Str)
		return apptest.Object{"action": "accept", "content": apptest.Object{}, "_meta": nil}
	}
	c.BeginTurn(id, "write")
	require.Equal(t, "written", untilCalled(c).Get("result.content.0.text").Str)
	c.AwaitTurn()

	c.BeginTurn(id, "crash")
	require.Contains(t, untilCalled(c).Get("error.message").Str, "the connection to the MCP server `docs` was lost")
	require.Equal(t, "completed", c.AwaitTurn().Status, "a crash of an MCP server fails the call, not the turn")
	c.BeginTurn(id, "look again")
	require.Equal(t, `echo {"again":true}`, untilCalled(c).Get("result.content.0.text").Str, "the MCP server is restarted")
	c.AwaitTurn()
	before := c.ReadThread(id)
	c.Close()

	d := apptest.StartServer(t, home)
	d.Initialize()
	d.Call("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, before.Turns, d.ReadThread(id).Turns, "the rollout has the calls")
	d.Close()
}

// TestMCPSlowServersDoNotBlock starts threads and turns with servers that do not answer. Turns have
// the tools of the working servers.
func TestMCPSlowServersDoNotBlock(t *testing.T) {
	t.Parallel()
	home := homeWithServers(t, scriptCalls("echo", `{}`), apptest.DocsServerConfig+
		"[mcp_servers.never]\ncommand = \"PROGRAM\"\nargs = [\"-never\"]\nstartup_timeout_sec = 600\n[mcp_servers.broken]\ncommand = \"PROGRAM\"\nargs = [\"-fail\"]\n[mcp_servers.absent]\ncommand = \"/no/such/program\"\n")
	c := apptest.StartServer(t, home, "-c", "mcp_optional_startup_grace_ms=300")
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	c.BeginTurn(id, "look")
	require.Equal(t, "completed", untilCalled(c).Get("status").Str)
	require.Equal(t, "completed", c.AwaitTurn().Status)
	states := map[string]string{}
	data := gjson.GetBytes(c.Call("mcpServerStatus/list", apptest.Object{"threadId": id, "serverName": "broken"}), "data")
	for _, s := range data.Array() {
		states[s.Get("name").Str] = s.Get("toolsError").Str
	}
	require.Contains(t, states["broken"], "no database")
	c.Close()
}

// TestMCPThreadsHaveTheirOwnTimeToStartServers starts a turn whose thread waits for a server less long than others.
func TestMCPThreadsHaveTheirOwnTimeToStartServers(t *testing.T) {
	t.Parallel()
	home := homeWithServers(t, scriptCalls("echo", `{}`), apptest.DocsServerConfig+
		"[mcp_servers.never]\ncommand = \"PROGRAM\"\nargs = [\"-never\"]\nstartup_timeout_sec = 600\n")
	c := apptest.StartServer(t, home, "-c", "mcp_optional_startup_grace_ms=600000")
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir(), "config": apptest.Object{"mcp_optional_startup_grace_ms": 100}})
	c.Turn(id, "look")
	c.Close()
}

// TestMCPServersExitWithServer requires that no child of an MCP server is left, however the server
// exits.
func TestMCPServersExitWithServer(t *testing.T) {
	t.Parallel()
	for _, end := range []func(c *apptest.Client){(*apptest.Client).Close, (*apptest.Client).Kill} {
		c := apptest.StartServer(t, homeWithServers(t, scriptCalls("child", `{}`), apptest.DocsServerConfig),
			"-c", "checkpoints.enabled=false") // after a kill, git could write to the home while it is removed
		c.Initialize()
		id := c.StartThread(apptest.Object{"cwd": t.TempDir()})
		c.BeginTurn(id, "go")
		pid := untilCalled(c).Get("result.content.0.text").Str
		require.DirExists(t, "/proc/"+pid)
		c.AwaitTurn()
		end(c)
		require.Eventually(t, func() bool {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			return err != nil || strings.Contains(string(stat), ") Z ")
		}, apptest.Timeout, 10*time.Millisecond)
	}
}

func TestMCPServersGetFewVariables(t *testing.T) {
	t.Parallel()
	home := homeWithServers(t, scriptCalls("environment", `{}`), apptest.DocsServerConfig+
		"env = { OWN = \"1\" }\nenv_vars = [\"PASSED\"]\n")
	cmd := apptest.ServerCommand(t, home)
	cmd.Env = append(cmd.Env, "PASSED=yes", "SECRET_THING=no", "OPENAI_API_KEY=no")
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	dir := t.TempDir()
	id := c.StartThread(apptest.Object{"cwd": dir})
	c.BeginTurn(id, "look")
	lines := strings.Split(untilCalled(c).Get("result.content.0.text").Str, "\n")
	require.Contains(t, lines, "PASSED=yes")
	require.Contains(t, lines, "OWN=1")
	require.Contains(t, lines, "cwd="+dir)
	for _, line := range lines {
		require.NotContains(t, line, "=no")
		require.NotContains(t, line, "CODEX_HOME")
	}
	c.AwaitTurn()
	c.Close()
}

func TestMCPServerStatusIsListed(t *testing.T) {
	t.Parallel()
	home := homeWithServers(t, scriptCalls("ask", `{}`), apptest.DocsServerConfig)
	c := apptest.StartServer(t, home)
	c.Initialize()
	list := gjson.GetBytes(c.Call("mcpServerStatus/list", apptest.Object{}), "data")
	require.Equal(t, "docs", list.Get("0.name").Str)
	require.Equal(t, gjson.Null, list.Get("0.runtimeStatus").Type)
	require.Equal(t, "mem://a", list.Get("0.resources.0.uri").Str)
	require.Equal(t, "content of a",
		gjson.GetBytes(c.Call("mcpServer/resource/read", apptest.Object{"server": "docs", "uri": "mem://a"}),
			"contents.0.text").Str)
	id := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	result := gjson.ParseBytes(c.Call("mcpServer/tool/call",
		apptest.Object{"threadId": id, "server": "docs", "tool": "fail"}))
	require.True(t, result.Get("isError").Bool())
	require.Contains(t, c.CallRejected("mcpServer/tool/call",
		apptest.Object{"threadId": id, "server": "none", "tool": "x"}).Message, "unknown MCP server 'none'")
	require.Contains(t, c.CallRejected("mcpServer/resource/read", apptest.Object{"server": "docs", "uri": "mem://b"}).Message,
		"no such thing")
	require.Contains(t, c.CallRejected("mcpServerStatus/list", apptest.Object{"cursor": "junk"}).Message, "invalid cursor")
	require.Contains(t, c.CallRejected("mcpServer/tool/call",
		apptest.Object{"threadId": "01a200bc-c8a8-7580-b377-50bfa85c2a7f", "server": "docs", "tool": "x"}).Message,
		"thread not found")

	c.OnRequest = func(apptest.Message) any {
		return apptest.Object{"action": "accept", "content": apptest.Object{"name": "Ada"}}
	}
	c.BeginTurn(id, "ask me")
	require.Equal(t, "accept Ada", untilCalled(c).Get("result.content.0.text").Str)
	c.AwaitTurn()

	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	apptest.WriteConfig(t, home, string(text)+fmt.Sprintf("[mcp_servers.more]\ncommand = %q\n", program))
	c.Call("config/mcpServer/reload", nil)
	c.Until(func(m apptest.Message) bool {
		return m.Method == "mcpServer/startupStatus/updated" && gjson.GetBytes(m.Params, "name").Str == "more" &&
			gjson.GetBytes(m.Params, "status").Str == "ready"
	})
	c.Close()
}

// TestMCPServersOfOneThread configures servers in thread/start.
func TestMCPServersOfOneThread(t *testing.T) {
	t.Parallel()
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	c := apptest.StartServer(t, homeWithServers(t, scriptCalls("echo", `{}`), ""))
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir(),
		"config": apptest.Object{"mcp_servers.docs": apptest.Object{"command": program, "required": true}}})
	c.BeginTurn(id, "look")
	require.Equal(t, "completed", untilCalled(c).Get("status").Str)
	c.AwaitTurn()
	other := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	require.Empty(t, gjson.GetBytes(c.Call("mcpServerStatus/list", apptest.Object{"threadId": other}), "data").Array())
	c.Close()
}

// plainServer is an MCP server with the tools plain and told. Only the result of told has isError.
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

// TestMCPIsErrorIsPassedOn requires isError in the response of mcpServer/tool/call exactly if the
// MCP server sent it.
func TestMCPIsErrorIsPassedOn(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(program, []byte(plainServer), 0o700))
	c := apptest.StartServer(t, homeWithServers(t, "", "[mcp_servers.plain]\ncommand = \""+program+"\"\n"))
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	for tool, want := range map[string]string{"plain": `{"content":[]}`,
		"told": `{"content":[],"isError":false,"_meta":{"m":1}}`} {
		require.JSONEq(t, want,
			string(c.Call("mcpServer/tool/call", apptest.Object{"threadId": id, "server": "plain", "tool": tool})))
	}
}
