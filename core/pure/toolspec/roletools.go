package toolspec

import "slices"

// WebSearchName is the name of the provider's search of the web in roles of agents.
const WebSearchName = "web_search"

// ServerToolPrefix precedes the name of an MCP server in the names of its tools.
const ServerToolPrefix = "mcp__"

// RoleTool returns the name by which roles of agents permit a built-in tool. The tools that run commands have one name,
// and those about agents have one. Tools that only find others are permitted by "".
func RoleTool(name string) string {
	switch {
	case IsShell(name), name == WriteStdin:
		return Shell
	case slices.Contains([]string{SendInput, WaitAgent, CloseAgent, ResumeAgent, SendMessage, FollowupTask, ListAgents,
		InterruptAgent}, name):
		return SpawnAgent
	case name == ToolSearch, name == CallTool:
		return ""
	}
	return name
}
