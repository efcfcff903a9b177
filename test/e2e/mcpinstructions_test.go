package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestMCPInstructionsReachTheModel: in the order of the names of servers, the same in each request, and in past
// requests.
func TestMCPInstructionsReachTheModel(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("One."), apptest.TextAnswer("Two."), apptest.TextAnswer("Three."))
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	home := p.Home(t)
	text, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	config := string(text)
	for name, delay := range map[string]string{"alpha": "300ms", "beta": "0s"} {
		list := filepath.Join(t.TempDir(), name+".json")
		require.NoError(t, os.WriteFile(list,
			[]byte(`{"instructions":"Ask `+name+` first.\n\u001b[31m","tools":[{"name":"a"}]}`), 0o600))
		config += fmt.Sprintf("[mcp_servers.%s]\ncommand = %q\nargs = [\"-slow\", %q, \"-raw\", %q]\nrequired = true\n",
			name, program, delay, list)
	}
	apptest.WriteConfig(t, home, config)
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	c.Turn(thread, "one")
	c.Turn(thread, "two")
	past := c.Call("thread/usage/list", apptest.Object{"threadId": thread})
	id := gjson.GetBytes(past, "data.1.requestId").Str
	rebuilt := c.Call("context/getPrompt", apptest.Object{"threadId": thread, "requestId": id})
	require.True(t, gjson.GetBytes(rebuilt, "exact").Bool(), "%s", rebuilt)
	require.Contains(t, string(rebuilt), "Ask alpha first.")
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": thread})
	c.Turn(thread, "three")
	c.Close()
	requests := p.Requests()
	system := gjson.Get(requests[0].Body, "messages.0.content").Str
	_, told, found := strings.Cut(system, "MCP servers\n")
	require.True(t, found, "%s", system)
	require.Contains(t, told, "Server \"alpha\" (tools mcp__alpha__…):\n> Ask alpha first.")
	require.Less(t, strings.Index(told, "alpha"), strings.Index(told, "beta"))
	require.NotContains(t, told, "\x1b")
	for _, r := range requests[1:] {
		require.Equal(t, system, gjson.Get(r.Body, "messages.0.content").Str)
	}
}
