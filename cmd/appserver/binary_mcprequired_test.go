package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBinaryRequiredServersThatFailRefuseTheThreadByName(t *testing.T) {
	home := t.TempDir()
	writeConfig(t, home, "[mcp_servers.gone]\ncommand = \"/nowhere/server\"\nrequired = true\n[mcp_servers.quits]\ncommand = \"false\"\nrequired = true\n"+
		"[mcp_servers.optional]\ncommand = \"/nowhere/other\"\n")
	c := startOffline(t, home)
	f := c.refused("thread/start", object{})
	require.Equal(t, -32603, f.Code)
	require.Regexp(t, `^required MCP servers failed to initialize: gone: .*; quits: .*\. Correct them in the configuration, or set required = false$`, f.Message)
	require.NotContains(t, f.Message, "optional")
	require.Equal(t, "mcpServer", f.Data.Kind)

	off := object{"mcp_servers.gone.required": false, "mcp_servers.quits.enabled": false}
	id := c.startThread(object{"config": off})
	require.Equal(t, "completed", c.turn(id, "hello").Status)
	c.close()

	c = startOffline(t, home)
	f = c.refused("thread/resume", object{"threadId": id})
	require.Equal(t, "mcpServer", f.Data.Kind)
	c.threadOf("thread/resume", object{"threadId": id, "config": off})
	files := rolloutsIn(t, home, "sessions")
	for _, p := range []object{{"threadId": id}, {"threadId": id, "ephemeral": true, "excludeTurns": true}} {
		f = c.refused("thread/fork", p)
		require.Equal(t, -32603, f.Code)
		require.Equal(t, "mcpServer", f.Data.Kind)
		require.Regexp(t, `^required MCP servers failed to initialize: gone: `, f.Message)
	}
	require.Equal(t, files, rolloutsIn(t, home, "sessions"), "a refused fork leaves no file")
	c.threadOf("thread/fork", object{"threadId": id, "config": off})
	c.close()
}
