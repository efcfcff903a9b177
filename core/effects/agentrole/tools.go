package agentrole

import (
	"errors"
	"slices"
	"strings"

	"appserver/core"
	"appserver/core/pure/toolspec"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// readers is a pseudo name of the tools that read: commands that are confined to reading.
const readers = "readers"

// claudeTools are the tools of Claude Code, with those that do the same here.
var claudeTools = map[string][]string{
	"Read": {readers, toolspec.ViewImage}, "NotebookRead": {readers},
	"Grep": {readers}, "Glob": {readers}, "LS": {readers},
	"Bash": {toolspec.Shell}, "BashOutput": {toolspec.Shell}, "KillShell": {toolspec.Shell}, "KillBash": {toolspec.Shell},
	"Edit": {toolspec.ApplyPatch}, "Write": {toolspec.ApplyPatch}, "MultiEdit": {toolspec.ApplyPatch},
	"NotebookEdit": {toolspec.ApplyPatch},
	"WebSearch":    {toolspec.WebSearchName}, "WebFetch": {toolspec.WebSearchName},
	"Task": {toolspec.SpawnAgent}, "Agent": {toolspec.SpawnAgent},
	"TodoWrite": {toolspec.UpdatePlan}, "TodoRead": {toolspec.UpdatePlan}, "AskUserQuestion": {toolspec.RequestUserInput},
	"Skill": nil, "SlashCommand": nil, "ExitPlanMode": nil, "ToolSearch": nil,
}

// setTools sets the tools that a role names, and the sandbox that they need. Unknown names cost a warning.
func (f *finder) setTools(r *role, names []string) error {
	if names == nil || slices.Contains(names, "*") {
		return nil
	}
	tools := map[string]bool{}
	for _, name := range names {
		found, known := f.tool(name)
		if !known {
			found = nil
			f.warn(r.Source, "the agent role %q names the tool %q, which does not exist here: its agents do not get it%s",
				r.Name, excerpt.Head(name, maxName), advice(name))
		}
		for _, tool := range found {
			tools[tool] = true
		}
	}
	writes := tools[toolspec.Shell] || tools[toolspec.ApplyPatch]
	if len(tools) == 0 {
		return errors.New("none of its tools exists here")
	}
	r.Tools = toolsOf(tools)
	if !writes {
		r.Sandbox = protocol.SandboxReadOnly
	}
	return nil
}

func advice(name string) string {
	if strings.Contains(name, "(") {
		return ". Limits of single commands are not supported: name the tool alone, or use rules for commands"
	}
	return ""
}

// toolsOf returns a list of tools. Commands are confined to reading if only tools that read need them.
func toolsOf(tools map[string]bool) *protocol.AgentTools {
	list := &protocol.AgentTools{Names: []string{}}
	if tools[readers] {
		list.ReadOnlyCommands = !tools[toolspec.Shell]
		tools[toolspec.Shell] = true
		delete(tools, readers)
	}
	for tool := range tools {
		list.Names = append(list.Names, tool)
	}
	slices.Sort(list.Names)
	return list
}

// tool returns the tools that a name of a role stands for.
func (f *finder) tool(name string) (tools []string, known bool) {
	if tools, known := claudeTools[name]; known {
		return tools, true
	}
	if server, ofServer := strings.CutPrefix(name, toolspec.ServerToolPrefix); ofServer {
		return []string{name}, slices.ContainsFunc(f.places.Servers, func(s string) bool {
			return server == s || strings.HasPrefix(server, s+"__")
		})
	}
	if name == toolspec.WebSearchName || toolspec.IsShell(name) || slices.Contains(core.BuiltInTools(), name) {
		if tool := toolspec.RoleTool(name); tool != "" {
			return []string{tool}, true
		}
		return nil, true
	}
	return nil, false
}
