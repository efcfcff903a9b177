package core

import (
	"slices"

	"appserver/core/toolspec"
	"appserver/protocol"
)

// tools returns the tools of the next request.
func (t *Thread) tools() []ToolSpec {
	if t.capabilities.NoTools {
		return nil
	}
	tools := t.selection().Specs()
	for _, tool := range toolspec.ClientTools(t.state.Meta.DynamicTools) {
		tools = append(tools, tool.Spec)
	}
	for i := range t.serverTools {
		tools = append(tools, t.serverTools[i].Spec)
	}
	return tools
}

// selection selects the built-in tools of the next request.
func (t *Thread) selection() toolspec.Selection {
	limits := t.capabilities.Limits
	return toolspec.Selection{
		Escalation: t.mayEscalate(), Terminals: t.capabilities.Terminals, Images: t.capabilities.Images,
		Questions: !limits.NoQuestions && (t.capabilities.Questions || t.state.Settings.Mode == protocol.ModePlan),
		Recall:    t.recalls(), NoShell: limits.NoShell, NoPlan: limits.NoPlan,
	}
}

// mayEscalate reports whether the model may ask to run a command outside of the sandbox.
func (t *Thread) mayEscalate() bool {
	return toolspec.AsksOutside(t.state.Settings.ApprovalPolicy) && !toolspec.Unconfined(t.state.Settings.Sandbox)
}

// clientTool returns the client's tool with the name, or nil.
func (t *Thread) clientTool(name string) *toolspec.ClientTool {
	for _, tool := range toolspec.ClientTools(t.state.Meta.DynamicTools) {
		if tool.Name == name {
			return &tool
		}
	}
	return nil
}

// recalls reports whether the model has the recall tool. With automatic edits it has from the first compaction or trim
// on, which empties the provider's cache anyway. Before, the placeholders of the edits name the command recall. So a
// short session does not pay for the tool.
func (t *Thread) recalls() bool {
	return t.searchesMemory() || t.economizes && t.context.LastTrim() != nil
}

// searchesMemory reports whether the recall tool searches the memory as well.
func (t *Thread) searchesMemory() bool { return t.memory.Tool && !t.state.MemoryOff }

// webSearch is the tool of the thread's next request. Only the Responses API has one.
func (t *Thread) webSearch() *WebSearchTool {
	if !t.capabilities.Responses || t.capabilities.NoTools {
		return nil
	}
	return t.capabilities.WebSearch.Tool(t.state.Settings.Sandbox)
}

func (t *Thread) serverTool(name string) *ServerTool {
	for i := range t.serverTools {
		if t.serverTools[i].Name == name {
			return &t.serverTools[i]
		}
	}
	return nil
}

// setServerTools replaces the tools of servers. A client's tool hides a server's tool of the same
// name.
func (t *Thread) setServerTools(tools []ServerTool) {
	offered := slices.DeleteFunc(
		slices.Clone(tools),
		func(tool ServerTool) bool { return t.clientTool(tool.Name) != nil },
	)
	if !slices.EqualFunc(t.serverTools, offered, func(a, b ServerTool) bool { return a.Spec.Equal(b.Spec) }) {
		t.overhead.tokens = 0
	}
	t.serverTools = offered
}
