package core

import (
	"slices"

	"appserver/core/pure/history"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// tools returns the tools of the next request.
func (t *Thread) tools() []ToolSpec {
	if t.capabilities.NoTools {
		return nil
	}
	var tools []ToolSpec
	for _, tool := range t.builtInTools {
		if tool.isOffered(t) {
			tools = append(tools, tool.spec(t))
		}
	}
	for i := range t.clientTools() {
		tools = append(tools, t.clientTools()[i].Spec)
	}
	for i := range t.serverTools {
		if tool := &t.serverTools[i]; !t.searched.has(tool) {
			tools = append(tools, tool.Spec)
		}
	}
	return tools
}

// asksUser reports whether the model may ask the user. The tool is offered in every mode, so that a change of the mode
// changes no tool.
func (t *Thread) asksUser() bool {
	return !t.capabilities.Limits.NoQuestions && (t.capabilities.Questions || t.state.Settings.Mode == protocol.ModePlan)
}

// clientTool returns the client's tool with the name, or nil.
func (t *Thread) clientTool(name string) *toolspec.ClientTool {
	for i := range t.clientTools() {
		if tool := &t.clientTools()[i]; tool.Name == name {
			return tool
		}
	}
	return nil
}

// clientTools returns the tools of the thread's client. Their schemas are normalized once.
func (t *Thread) clientTools() []toolspec.ClientTool {
	specs := t.state.Meta.DynamicTools
	if len(specs) == 0 {
		return nil
	}
	if t.offeredByClient.of != &specs[0] {
		t.offeredByClient.of = &specs[0]
		t.offeredByClient.tools = slices.DeleteFunc(toolspec.ClientTools(specs),
			func(tool toolspec.ClientTool) bool { return !t.mayUse(tool.Name) })
	}
	return t.offeredByClient.tools
}

// recalls reports whether the model has the recall tool. With automatic edits it has from the first compaction or trim
// on, which empties the provider's cache anyway. Before, the placeholders of the edits name the command recall. So a
// short session does not pay for the tool. A thread without memory has it as well, for what left the context, so that
// thread/memoryMode/set changes no tool.
func (t *Thread) recalls() bool {
	return t.memory.Tool || t.economizes && t.context.LastTrim() != nil
}

// wasEconomized reports whether an automatic edit was made.
func (t *Thread) wasEconomized() bool {
	return slices.ContainsFunc(t.context.Journal(), func(e history.Edit) bool { return e.Economy() != nil })
}

// searchesMemory reports whether the recall tool searches the memory as well.
func (t *Thread) searchesMemory() bool { return t.memory.Tool && !t.state.MemoryOff }

// webSearch returns the tool of the thread's next request. Only the Responses API has one.
func (t *Thread) webSearch() *WebSearchTool {
	if !t.capabilities.Responses || t.capabilities.NoTools || !t.mayUse(toolspec.WebSearchName) {
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

// calledServerTool returns the tool of a server that a call means, directly or by call_tool, and its arguments. The
// tool is nil if there is none.
func (t *Thread) calledServerTool(c *toolCall) (tool *ServerTool, arguments string) {
	if c.call.Name != toolspec.CallTool || !t.searchesTools() {
		return t.serverTool(c.call.Name), c.call.Arguments
	}
	name, arguments, err := toolspec.ParseNamedCall(c.call.Arguments)
	if err != nil {
		return nil, ""
	}
	return t.serverToolMeant(name), arguments
}

// serverToolMeant returns the tool of a server that a model means by a name: its own, or the only one that the server
// calls so. It returns nil if there is none.
func (t *Thread) serverToolMeant(name string) (meant *ServerTool) {
	var specs []ToolSpec
	for i := range t.serverTools {
		specs = append(specs, t.serverTools[i].Spec)
	}
	if tool := t.serverTool(toolspec.OfferedName(name, specs)); tool != nil {
		return tool
	}
	for i := range t.serverTools {
		tool := &t.serverTools[i]
		if name != tool.Tool && name != tool.Server+"."+tool.Tool && name != tool.Server+"/"+tool.Tool {
			continue
		}
		if meant != nil {
			return nil
		}
		meant = tool
	}
	return meant
}

// setServerTools replaces the tools of servers. A client's tool hides a server's tool of the same
// name.
func (t *Thread) setServerTools(tools []ServerTool, window *int64) {
	offered := slices.DeleteFunc(
		slices.Clone(tools),
		func(tool ServerTool) bool {
			return t.clientTool(tool.Name) != nil || t.capabilities.Limits.ToolSearch.hides(&tool) ||
				!t.mayUseServerTool(&tool)
		},
	)
	if !slices.EqualFunc(t.serverTools, offered, func(a, b ServerTool) bool { return a.Spec.Equal(b.Spec) }) {
		t.overhead.tokens = history.Tokens{}
	}
	t.noteRemovedTools(offered)
	t.serverTools = offered
	t.searched = t.capabilities.Limits.ToolSearch.servers(offered, window)
	t.serverInstructions = toolspec.ServerInstructions(offered)
}

// maxRemovedTools bounds the names of removed tools.
const maxRemovedTools = 1000

// noteRemovedTools keeps the names of tools that are not offered any more, for the answers to calls of them.
func (t *Thread) noteRemovedTools(now []ServerTool) {
	removed := map[string]string{}
	for i := range t.serverTools {
		removed[t.serverTools[i].Name] = t.serverTools[i].Server
	}
	for name, server := range t.removedTools {
		if len(removed) < maxRemovedTools {
			removed[name] = server
		}
	}
	for i := range now {
		delete(removed, now[i].Name)
	}
	t.removedTools = removed
}
