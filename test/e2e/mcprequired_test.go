package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

func TestMCPRequiredServerFailureRejectsThread(t *testing.T) {
	home := t.TempDir()
	apptest.WriteConfig(t, home,
		"[mcp_servers.gone]\ncommand = \"/nowhere/server\"\nrequired = true\n[mcp_servers.quits]\ncommand = \"false\"\nrequired = true\n"+
			"[mcp_servers.optional]\ncommand = \"/nowhere/other\"\n")
	c := apptest.StartOffline(t, home)
	f := c.CallRejected("thread/start", apptest.Object{})
	require.Equal(t, -32603, f.Code)
	require.Regexp(t, `^required MCP servers failed to initialize: gone: .*; quits: .*\. Correct them in the configuration, or set required = false$`, f.Message)
	require.NotContains(t, f.Message, "optional")
	require.Equal(t, "mcpServer", f.Data.Kind)

	off := apptest.Object{"mcp_servers.gone.required": false, "mcp_servers.quits.enabled": false}
	id := c.StartThread(apptest.Object{"config": off})
	require.Equal(t, "completed", c.Turn(id, "hello").Status)
	c.Close()

	c = apptest.StartOffline(t, home)
	f = c.CallRejected("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, "mcpServer", f.Data.Kind)
	c.CallThread("thread/resume", apptest.Object{"threadId": id, "config": off})
	files := rolloutsIn(t, home, "sessions")
	for _, p := range []apptest.Object{{"threadId": id}, {"threadId": id, "ephemeral": true, "excludeTurns": true}} {
		f = c.CallRejected("thread/fork", p)
		require.Equal(t, -32603, f.Code)
		require.Equal(t, "mcpServer", f.Data.Kind)
		require.Regexp(t, `^required MCP servers failed to initialize: gone: `, f.Message)
	}
	require.Equal(t, files, rolloutsIn(t, home, "sessions"), "a rejected fork leaves no file")
	c.CallThread("thread/fork", apptest.Object{"threadId": id, "config": off})
	c.Close()
}
