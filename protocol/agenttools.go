package protocol

import (
	"slices"
	"strings"
)

// AgentTools are the tools of an agent whose role names them. A nil list has all tools.
type AgentTools struct {
	// Names are names of tools. The name mcp__SERVER stands for all tools of an MCP server.
	Names []string `json:"names"`
	// ReadOnlyCommands is set if commands of the agent are confined to reading.
	ReadOnlyCommands bool `json:"read_only_commands,omitempty"`
}

// Has reports whether the list has one of the names of a tool.
func (t *AgentTools) Has(names ...string) bool {
	return t == nil || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(t.Names, name) })
}

// CommandsRead reports whether commands are confined to reading.
func (t *AgentTools) CommandsRead() bool { return t != nil && t.ReadOnlyCommands }

// Narrowed returns the tools that both lists have.
func (t *AgentTools) Narrowed(o *AgentTools) *AgentTools {
	switch {
	case t == nil:
		return o
	case o == nil:
		return t
	}
	both := &AgentTools{Names: []string{}, ReadOnlyCommands: t.ReadOnlyCommands || o.ReadOnlyCommands}
	for _, name := range o.Names {
		if t.Has(name, serverOf(name)) {
			both.Names = append(both.Names, name)
		}
	}
	for _, name := range t.Names {
		if o.Has(serverOf(name)) && !o.Has(name) {
			both.Names = append(both.Names, name)
		}
	}
	return both
}

// serverOf returns the name mcp__SERVER for the name of a tool of an MCP server, or "".
func serverOf(name string) string {
	rest, ok := strings.CutPrefix(name, "mcp__")
	server, _, hasTool := strings.Cut(rest, "__")
	if !ok || !hasTool {
		return ""
	}
	return "mcp__" + server
}
