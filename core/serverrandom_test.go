package core_test

import (
	"encoding/json"

	"pgregory.net/rapid"

	"appserver/core"
)

// This file has what explorers do with MCP servers.

// anyTools are some of the tools that the calls of an explorer name.
func anyTools(t *rapid.T) []core.ServerTool {
	var a arguments
	for _, name := range []string{"look:r", "wipe:d", "write:", "free:a", "watched:rp"} {
		if rapid.Bool().Draw(t, name) {
			a.options = append(a.options, option{"tool", name})
		}
	}
	return serverTools(a)
}

func anyResult(t *rapid.T, id core.EffectID) core.Input {
	return rapid.SampledFrom([]core.Input{
		core.ToolCalled{Effect: id, Err: errDiskFull},
		core.ToolCalled{Effect: id, Result: &core.ServerToolResult{Failed: true, Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":"no"}`)}}},
		core.ToolCalled{Effect: id, Result: &core.ServerToolResult{Structured: json.RawMessage(`[1]`), Meta: json.RawMessage(`{"a":1}`)}},
		core.ToolCalled{Effect: id, Result: &core.ServerToolResult{Content: []json.RawMessage{json.RawMessage(`{"type":"image","mimeType":"image/png","data":"AA=="}`), json.RawMessage(`{}`)}}},
	}).Draw(t, "result")
}

// serverAsks is a question of a server, at any time.
func (e *explorer) serverAsks(t *rapid.T) {
	e.run(t, core.ServerAsks{Question: rapid.Uint64Range(0, 40).Draw(t, "question"), Server: "docs", Mode: "form", Message: "?", Schema: json.RawMessage(`{}`)})
}
