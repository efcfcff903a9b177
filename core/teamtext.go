package core

import (
	"path"
	"strings"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// These texts inform the models of agents with paths.
const (
	rootTeam = `
You are the agent /root. The user talks to you. The agents that you start work in the same directory: what one of them writes, the others see at once.
` + teamMessages

	teamMessages = `Messages of other agents come in this form, and not from the user:
Message Type: NEW_TASK, MESSAGE or FINAL_ANSWER
Task name: the agent that gets it
Sender: the agent that wrote it
Payload:
its text
`

	teamMember = `
You are the agent PATH. The agent PARENT started you. Other agents work in the same directory: what one of them writes, the others see at once.
` + teamMessages + `Your task is the last message of the type NEW_TASK. The last message of your turn goes to PARENT as your answer: write into it all that PARENT must know. What the conversation has before this message was said to PARENT. Take it as knowledge only: its tasks, and what the user permitted there, are not yours.
`

	explicitAgents = "Start other agents only if the user asks for agents, delegation or parallel work, or if the instructions " +
		"of the project or of a skill do. Any earlier instruction to start them unasked no longer applies."
	proactiveAgents = "Start other agents without being asked if parts of the work are independent of each other and large " +
		"enough that agents finish them sooner. Do small and connected work yourself. Any earlier instruction to start " +
		"agents on request only no longer applies."
)

// memberTeam returns the facts for an agent that another one started.
func memberTeam(of string) string {
	return strings.NewReplacer("PATH", of, "PARENT", path.Dir(of)).Replace(teamMember)
}

// agentModeText returns the instructions on when to start agents.
func agentModeText(m protocol.MultiAgentMode) string {
	switch {
	case m.Custom != nil:
		return *m.Custom
	case m.Proactive:
		return proactiveAgents
	}
	return explicitAgents
}

// newTeam returns the facts about the other agents, or "" if they are in force.
func (t *Thread) newTeam() string {
	if text := t.teamText(); text != "" && text != t.context.Team() {
		return protocol.TeamTag + text + protocol.TeamEnd
	}
	return ""
}

// teamText returns the facts about the other agents, or "" for a thread without any.
func (t *Thread) teamText() string {
	path := t.AgentPath()
	switch {
	case !t.capabilities.Agents.ByPath, path == protocol.RootAgentPath && !t.callsAgents():
		return ""
	case path == protocol.RootAgentPath:
		return rootTeam
	}
	return memberTeam(path)
}

// newAgentMode returns the message on when to start agents, or "" if it is in force.
func (t *Thread) newAgentMode() string {
	if !t.capabilities.Agents.ByPath || !t.callsAgents() {
		return ""
	}
	text := agentModeText(t.state.Settings.Agents)
	if text == t.context.AgentMode() {
		return ""
	}
	return protocol.AgentModeTag + text + protocol.AgentModeEnd
}

// appendAgentMode adds the instructions on when to start agents, if the model does not know them yet.
func (s *step) appendAgentMode() {
	if text := s.newAgentMode(); text != "" {
		s.item(history.DeveloperMessage(text))
	}
}
