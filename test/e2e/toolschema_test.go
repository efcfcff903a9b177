package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// badTools are tools as servers and clients send them and providers refuse them. Each has the argument a.
var badTools = []string{
	`{"type":"object","properties":{"a":{"type":"array"}}}`,
	`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"number"}]}}}`,
	`{"type":"object","properties":{"a":{"type":"uuid"}},"required":null}`,
	`{"type":"object","properties":{"a":{"type":["integer","null"],"minimum":0,"exclusiveMinimum":true}}}`,
	`{"type":"object","properties":{"a":{"$ref":"#/$defs/gone"}}}`,
	`{"$ref":"#/$defs/x","$defs":{"x":{"properties":{"a":{"$ref":"#/$defs/x"}}}}}`,
	`{"anyOf":[{"properties":{"a":{"const":"x"}}},{"properties":{"a":{"const":"y"}}}]}`,
	`{"allOf":[{"properties":{"a":true}}],"required":["a","z"]}`,
	`{"oneOf":[{"type":"object","properties":{"a":{"enum":[1,2]}}}]}`,
	`{"properties":{"a":{"description":["no","text"],"format":"date-time"}}}`,
	`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"object"}]}},"additionalProperties":{}}`,
	`{"type":"object","properties":{"a":{"type":"string","enum":[]},"$odata filter":{}}}`,
	`{"type":"object","properties":{"a":{"type":"string","description":"` + strings.Repeat("long ", 20_000) + `"}}}`,
}

// TestBadSchemasOfServersAreNormalized: the model gets every tool of a server in a form that all APIs accept, on
// each request the same bytes.
func TestBadSchemasOfServersAreNormalized(t *testing.T) {
	t.Parallel()
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		p := on.NewProvider(t, apptest.TextAnswer("One."), apptest.TextAnswer("Two."))
		c := apptest.StartServer(t, homeOfRawServer(p, t))
		c.Initialize()
		thread := c.StartThread(apptest.Object{"cwd": t.TempDir()})
		c.Turn(thread, "first")
		requireAccepted(t, p.Requests()[0].Body, "mcp__raw__", len(badTools)+4)
		first := gjson.Get(p.Requests()[0].Body, "tools").Raw
		require.Contains(t, first, "mcp__raw__nothing", "a tool without a schema is offered")
		c.Turn(thread, "second")
		require.Equal(t, first, gjson.Get(p.Requests()[1].Body, "tools").Raw)
		c.Close()
	})
}

// TestRenamedArgumentsReachServer: the server gets the names of its own schema.
func TestRenamedArgumentsReachServer(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("One."),
		apptest.ToolAnswer("c1", "mcp__raw__t11", `{"odata_filter_ebb9267e":"x","a":"y"}`), apptest.TextAnswer("Two."))
	c := apptest.StartServer(t, homeOfRawServer(p, t))
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "never", "sandbox": "danger-full-access"})
	c.Turn(thread, "first")
	c.Turn(thread, "second")
	require.Contains(t, p.Requests()[2].Body, `{\"$odata filter\":\"x\",\"a\":\"y\"}`)
	c.Close()
}

// TestBadSchemasOfClientsAreNormalized has the same for tools of the client.
func TestBadSchemasOfClientsAreNormalized(t *testing.T) {
	t.Parallel()
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		p := on.NewProvider(t, apptest.TextAnswer("One."), apptest.TextAnswer("Two."))
		c := apptest.StartServer(t, p.Home(t))
		c.Call("initialize", apptest.Object{"clientInfo": apptest.Object{"name": "test", "version": "1"},
			"capabilities": apptest.Object{"experimentalApi": true}})
		var tools []apptest.Object
		for i, schema := range badTools {
			tools = append(tools, apptest.Object{"type": "function", "name": fmt.Sprintf("%d-t", i), "description": "D.",
				"inputSchema": json.RawMessage(schema)})
		}
		thread := c.StartThread(apptest.Object{"cwd": t.TempDir(), "dynamicTools": tools})
		c.Turn(thread, "first")
		requireAccepted(t, p.Requests()[0].Body, "_", len(badTools))
		c.Turn(thread, "second")
		require.Equal(t, gjson.Get(p.Requests()[0].Body, "tools").Raw, gjson.Get(p.Requests()[1].Body, "tools").Raw)
		c.Close()
	})
}

// homeOfRawServer returns a home whose MCP server raw has the bad tools, and four that are bad themselves.
func homeOfRawServer(p *apptest.Provider, t *testing.T) string {
	t.Helper()
	tools := []string{`{"name":"nothing"}`, `{"name":"number","description":7,"inputSchema":null}`,
		`{"name":"dots.and spaces","inputSchema":[]}`,
		`{"name":"` + strings.Repeat("n", 200) + `","annotations":"none","inputSchema":"object"}`, `{"name":8}`, `null`}
	for i, schema := range badTools {
		tools = append(tools, fmt.Sprintf(`{"name":"t%d","description":"D.","inputSchema":%s}`, i, schema))
	}
	return homeOfTools(t, p, tools, "[features]\ntool_search = false\n")
}

// homeOfTools returns a home whose MCP server raw has the tools.
func homeOfTools(t *testing.T, p *apptest.Provider, tools []string, more string) string {
	t.Helper()
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	home := p.Home(t)
	list := filepath.Join(home, "tools.json")
	require.NoError(t, os.WriteFile(list, []byte(`{"tools":[`+strings.Join(tools, ",")+`]}`), 0o600))
	config, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	apptest.WriteConfig(t, home, string(config)+fmt.Sprintf(
		"[mcp_servers.raw]\ncommand = %q\nargs = [\"-raw\", %q]\nrequired = true\n", program, list)+more)
	return home
}

// requireAccepted requires that a request has n tools with a prefix, whose names and schemas all providers accept.
func requireAccepted(t *testing.T, body, prefix string, n int) {
	t.Helper()
	found := 0
	for _, tool := range gjson.Get(body, "tools").Array() {
		if f := tool.Get("function"); f.Exists() {
			tool = f
		}
		if !strings.HasPrefix(tool.Get("name").Str, prefix) {
			continue
		}
		found++
		require.Regexp(t, `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`, tool.Get("name").Str)
		require.Equal(t, "object", tool.Get("parameters.type").Str)
		require.LessOrEqual(t, len(tool.Get("parameters").Raw), 16_000)
		requireAcceptedSchema(t, tool.Get("parameters"))
		if name := tool.Get("name").Str; strings.Contains(name, "t1") {
			require.True(t, tool.Get("parameters.properties.a").Exists(), "%s keeps its argument", name)
		}
	}
	require.Equal(t, n, found)
}

func requireAcceptedSchema(t *testing.T, schema gjson.Result) {
	t.Helper()
	require.Equal(t, gjson.String, schema.Get("type").Type, "%s", schema.Raw)
	schema.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "type", "description", "enum", "required":
		case "items":
			requireAcceptedSchema(t, value)
		case "additionalProperties":
			if value.IsObject() {
				requireAcceptedSchema(t, value)
			}
		case "properties":
			value.ForEach(func(name, property gjson.Result) bool {
				require.Regexp(t, `^[a-zA-Z0-9_.-]{1,64}$`, name.Str)
				requireAcceptedSchema(t, property)
				return true
			})
		default:
			require.Fail(t, "no provider needs this member", "%s", key.Str)
		}
		return true
	})
	require.Equal(t, schema.Get("type").Str == "array", schema.Get("items").Exists())
	require.Equal(t, schema.Get("type").Str == "object", schema.Get("properties").Exists())
}
