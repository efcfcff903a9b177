package e2e

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestMCPChangedToolsAreOfferedInTheSameTurn: the next request has the new tools and not the removed ones. A call of a
// removed one is answered. Nothing else of the request changes.
func TestMCPChangedToolsAreOfferedInTheSameTurn(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "mcp__raw__swap", `{}`),
		apptest.ToolAnswer("c2", "mcp__raw__old", `{}`), apptest.ToolAnswer("c3", "mcp__raw__new", `{"a":"magpie"}`),
		apptest.TextAnswer("Done."))
	home := homeOfRaw(t, p, map[string]any{})
	list := rawList(t, home)
	reads := `,"annotations":{"readOnlyHint":true}}`
	require.NoError(t, os.WriteFile(list, []byte(`{"tools":[{"name":"swap"`+reads+`,{"name":"old"`+reads+`]}`), 0o600))
	require.NoError(t, os.WriteFile(list+".next", []byte(`{"tools":[{"name":"swap"`+reads+`,{"name":"new"`+reads+`]}`), 0o600))
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	require.Equal(t, "completed", c.Turn(thread, "go").Status)
	c.Close()

	requests := p.Requests()
	require.Len(t, requests, 4)
	require.Contains(t, requests[0].Body, `"mcp__raw__old"`)
	require.NotContains(t, requests[0].Body, `"mcp__raw__new"`)
	require.Contains(t, requests[1].Body, `"mcp__raw__new"`)
	require.NotContains(t, requests[1].Body, `"mcp__raw__old"`)
	require.Contains(t, requests[2].Body, `does not offer the tool \"mcp__raw__old\" any more`)
	require.Contains(t, requests[3].Body, "magpie")
}
