package core_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core"
	"appserver/protocol"
)

// Random actions with MCP servers.

// anyTools returns tools for random calls.
func anyTools(t *rapid.T) []core.ServerTool {
	var a arguments
	for _, name := range []string{"look:r", "wipe:d", "write:", "free:a", "watched:rp"} {
		if rapid.Bool().Draw(t, name) {
			a.options = append(a.options, option{"tool", name})
		}
	}
	return serverTools(a)
}

// TestClientToolHidesServerTool checks that the model gets only the client's tool if a server has
// one of the same name.
func TestClientToolHidesServerTool(t *testing.T) {
	m := newMachine(t.Fatalf)
	start := m.start(protocol.HistoryPaginated)
	start.Meta.DynamicTools = []protocol.DynamicToolSpec{function("mcp__docs__look", `{}`)}
	m.take(start)
	m.world.Tools = serverTools(arguments{options: []option{{"tool", "look:r"}, {"tool", "free:a"}}})
	m.take(core.TurnStart{To: m.caller(),
		Params: &protocol.TurnStartParams{ThreadID: threadID, Input: []protocol.UserInput{}}, Env: m.world})
	m.take(core.ModelDone{Effect: last[core.ModelRequest](m), Answer: core.Answer{Calls: []core.ToolCall{
		{ID: "c", Name: "mcp__docs__look", Arguments: `{}`}, {ID: "d", Name: "mcp__docs__free", Arguments: `{}`},
	}}})
	require.Len(t, m.thread.OpenRequests(), 1, "the client is asked")
	require.Zero(t, last[core.CallTool](m), "no server is")
	m.take(core.ClientAnswer{Request: m.thread.OpenRequests()[0],
		Result: json.RawMessage(`{"contentItems":[],"success":true}`)})
	require.NotZero(t, last[core.CallTool](m), "but for its other tool")
}

func anyResult(t *rapid.T, id core.EffectID) core.Input {
	return rapid.SampledFrom([]core.Input{
		core.ToolCalled{Effect: id, Err: errDiskFull},
		core.ToolCalled{Effect: id,
			Result: &core.ServerToolResult{Failed: true,
				Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":"no"}`)}}},
		core.ToolCalled{Effect: id,
			Result: &core.ServerToolResult{Structured: json.RawMessage(`[1]`), Meta: json.RawMessage(`{"a":1}`)}},
		core.ToolCalled{Effect: id,
			Result: &core.ServerToolResult{Content: []json.RawMessage{json.RawMessage(`{"type":"image","mimeType":"image/png","data":"AA=="}`), json.RawMessage(`{}`)}}},
	}).Draw(t, "result")
}

// serverAsks returns the input for a question of a server.
func (e *explorer) serverAsks(t *rapid.T) {
	e.run(t, core.ServerQuestion{Question: rapid.Uint64Range(0, 40).Draw(t, "question"), Server: "docs", Mode: "form",
		Message: "?", Schema: json.RawMessage(`{"type":"object","properties":{}}`)})
}
