package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
)

// homeOfRaw returns a home with the provider and the MCP server raw, whose tools return the results.
func homeOfRaw(t *testing.T, p *apptest.Provider, results map[string]any) string {
	t.Helper()
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	tools := []any{}
	for name := range results {
		tools = append(tools, apptest.Object{"name": name, "inputSchema": apptest.Object{"type": "object"},
			"annotations": apptest.Object{"readOnlyHint": true}})
	}
	raw, err := protocol.Marshal(apptest.Object{"tools": tools, "results": results})
	require.NoError(t, err)
	list := filepath.Join(t.TempDir(), "tools.json")
	require.NoError(t, os.WriteFile(list, raw, 0o600))
	home := p.Home(t)
	text, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	apptest.WriteConfig(t, home, string(text)+
		fmt.Sprintf("[mcp_servers.raw]\ncommand = %q\nargs = [\"-raw\", %q]\nrequired = true\n", program, list))
	return home
}

// rawList returns the file with the tools of the server raw.
func rawList(t *testing.T, home string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), `["-raw", "`)
	require.True(t, found)
	list, _, _ := strings.Cut(rest, `"`)
	return list
}

// TestMCPBytesBecomeFiles: the model gets a note with the path of a file, clients get the bytes, and the file ends with
// the thread. Other results of the same call stay.
func TestMCPBytesBecomeFiles(t *testing.T) {
	t.Parallel()
	document := bytes.Repeat([]byte{0, 0xff, 0xfe, 7}, 20_000)
	encoded := base64.StdEncoding.EncodeToString(document)
	p := apptest.NewProvider(t, apptest.ToolAnswer("c1", "mcp__raw__document", `{}`),
		apptest.ToolAnswer("c2", "mcp__raw__mixed", `{}`), apptest.TextAnswer("Done."))
	home := homeOfRaw(t, p, map[string]any{
		"document": apptest.Object{"content": []any{apptest.Object{"type": "resource", "resource": apptest.Object{
			"uri": "file:///../../r.pdf", "mimeType": "application/pdf", "blob": encoded}}}},
		"mixed": apptest.Object{"content": []any{apptest.Object{"type": "text", "text": "words"},
			apptest.Object{"type": "image", "data": "%%%", "mimeType": "image/png"}, apptest.Object{"type": "newblock", "x": 1},
			apptest.Object{"type": "resource", "resource": apptest.Object{"uri": "mem://a", "mimeType": "text/plain",
				"blob": base64.StdEncoding.EncodeToString([]byte("the word is magpie"))}}}},
	})
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	require.Equal(t, "completed", c.Turn(thread, "go").Status)

	body := p.Requests()[1].Body
	require.NotContains(t, body, encoded[:200])
	require.Contains(t, body, "80000 bytes: stored in the file ")
	files, err := filepath.Glob(filepath.Join(home, "tool-files", thread, "*.pdf"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Contains(t, body, files[0])
	stored, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Equal(t, document, stored)
	require.Equal(t, encoded, gjson.GetBytes(c.ReadThread(thread).Turns[0].Items[1], "result.content.0.resource.blob").Str,
		"clients get the bytes")
	for _, part := range []string{"words", "base64 is broken", "newblock", "the word is magpie"} {
		require.Contains(t, p.Requests()[2].Body, part)
	}
	answer := c.Call("mcpServer/tool/call", apptest.Object{"threadId": thread, "server": "raw", "tool": "document"})
	require.Equal(t, encoded, gjson.GetBytes(answer, "content.0.resource.blob").Str)

	c.Call("thread/delete", apptest.Object{"threadId": thread})
	require.NoDirExists(t, filepath.Dir(files[0]))
	c.Close()
}
