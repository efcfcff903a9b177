package core

// builtInTools returns the tools of the server, in the order of the prompt. This is their only list.
func builtInTools() []builtInTool {
	return append([]builtInTool{
		shellTool(),
		patchTool(),
		planTool(),
		execTool(),
		stdinTool(),
		imageTool(),
		questionsTool(),
		recallTool(),
		searchTool(),
		callTool(),
	}, agentTools()...)
}

// BuiltInTools returns the names of the tools of the server, in the order of the prompt.
func BuiltInTools() (names []string) {
	for _, tool := range builtInTools() {
		names = append(names, tool.name)
	}
	return names
}
