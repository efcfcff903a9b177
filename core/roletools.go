package core

import (
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// mayUse reports whether the role of the agent permits a tool that has these names. All tools of a thread that is no
// agent are permitted.
func (t *Thread) mayUse(names ...string) bool { return t.state.Meta.AgentTools.Has(names...) }

// mayUseServerTool reports the same for a tool of an MCP server.
func (t *Thread) mayUseServerTool(tool *ServerTool) bool {
	server := toolspec.ServerToolPrefix + tool.Server
	return t.mayUse(tool.Name, server, server+"__"+tool.Tool)
}

// AgentTools returns the tools that the role of the agent names, or nil for all.
func (t *Thread) AgentTools() *protocol.AgentTools { return t.state.Meta.AgentTools }

// commandsRead reports whether the role of the agent confines commands to reading.
func (s *step) commandsRead() bool { return s.state.Meta.AgentTools.CommandsRead() }

// commandSandbox returns the sandbox policy of commands that the user did not permit to leave it.
func (s *step) commandSandbox() protocol.SandboxPolicy {
	if s.commandsRead() {
		return protocol.SandboxReadOnly.Policy()
	}
	return s.state.Settings.Sandbox
}

// commandRules returns the rules that decide on commands.
func (s *step) commandRules() toolspec.Rules {
	r := s.rules()
	r.Sandbox = s.commandSandbox()
	return r
}

// The outputs of calls that the role of an agent does not permit.
const (
	noCommandsOfRoleText = "This command was not run: the role of this agent has no tool that runs commands. Use the " +
		"other tools, or report what is missing."
	noPatchOfRoleText = "The patch was not applied: the role of this agent does not change files. Report the change instead."
	noEscalationText  = "This command was not run: it asks to run outside of the sandbox, and the role of this agent only " +
		"reads. Call the tool without sandbox_permissions, or continue without the command."
)

// refusedByRole returns the output of a command that the role of the agent does not permit, or "".
func (s *step) refusedByRole(c *shellCommand) string {
	patches := false
	if c != nil {
		_, _, patches = c.Patch()
	}
	switch {
	case patches && !s.mayUse(toolspec.ApplyPatch) && (s.commandsRead() || !s.mayUse(toolspec.Shell)):
		return noPatchOfRoleText
	case !patches && !s.mayUse(toolspec.Shell):
		return noCommandsOfRoleText
	case c != nil && c.Escalates && s.commandsRead():
		return noEscalationText
	}
	return ""
}
