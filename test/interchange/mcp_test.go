//go:build reference

package interchange

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// serverTools calls tools of an MCP server, and continues with the other server.
func (x *interchange) serverTools(from, to func() *apptest.Client, path string) {
	program, err := apptest.MCPProgram()
	require.NoError(x.t, err)
	file := filepath.Join(x.home, "config.toml")
	text, err := os.ReadFile(file)
	require.NoError(x.t, err)
	apptest.WriteConfig(x.t, x.home, string(text)+fmt.Sprintf("[mcp_servers.docs]\ncommand = %q\n", program))

	c := from()
	id := x.startThread(c)
	untilServer(c, "docs")
	for _, tool := range []string{"echo", "structured", "fail", "mixed", "write"} {
		c.Turn(id, "tool: mcp__docs/"+tool+" {}")
	}
	resumed := c.CompareAnswer("thread/resume", id)
	c.Close()
	require.Len(x.t, resumed.Thread.Turns, 5)
	for i, status := range []string{"completed", "completed", "failed", "completed", "completed"} {
		require.Equal(x.t, "mcpToolCall", resumed.Thread.Turns[i].Items[1]["type"])
		require.Equal(x.t, status, resumed.Thread.Turns[i].Items[1]["status"])
	}

	c = to()
	require.Equal(x.t, resumed, c.CompareAnswer("thread/resume", id))
	untilServer(c, "docs")
	require.Equal(x.t, resumed.Thread, c.CompareAnswer("thread/read", id).Thread)
	c.Turn(id, "tool: mcp__docs/append {}")
	require.Contains(x.t, x.model.conversation(path), `output call_2: {"n":1}`)
	c.Close()
}

// untilServer waits until an MCP server is ready.
func untilServer(c *apptest.Client, name string) {
	isReady := func(m apptest.Message) bool {
		return m.Method == "mcpServer/startupStatus/updated" && gjson.GetBytes(m.Params, "name").Str == name &&
			gjson.GetBytes(m.Params, "status").Str == "ready"
	}
	if !slices.ContainsFunc(c.Seen, isReady) {
		c.Until(isReady)
	}
}
