package core

import (
	"slices"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// PeerMail is a message of another agent. A message that starts a turn comes with a TurnStart.
type PeerMail struct {
	Message protocol.PeerMessage
	// Agent is the thread of an agent whose turn Turn ended with an answer. Both are "" for other messages.
	Agent, Turn string
}

func (in PeerMail) apply(s *step) { s.getMail(in) }

// peerMail is a message that waits for the next model request of a turn.
type peerMail struct {
	PeerMail
	// triggers is set if the turn does not end before the model has the message.
	triggers bool
}

// getMail adds a message to the context: before the next model request of a turn, or at once.
func (s *step) getMail(in PeerMail) {
	if !s.isIdle() {
		s.queueMail(peerMail{PeerMail: in})
		return
	}
	s.closeDanglingTurn()
	s.addMail(peerMail{PeerMail: in})
	s.out.Sync = true
	s.contextChanged(nil)
}

// queueMail keeps a message until the next model request, and ends calls that wait for one.
func (s *step) queueMail(in peerMail) {
	s.active.mail = append(s.active.mail, in)
	if in.Turn != "" {
		s.showActivity("subagent-completed-"+in.Turn, protocol.SubAgentActivityItem{Kind: protocol.AgentActivityCompleted,
			AgentThreadID: in.Agent, AgentPath: in.Message.Author})
	}
	s.endMailCalls(waitCompleted)
}

// addMails adds the messages that came since the last model request of the turn.
func (s *step) addMails() {
	for _, in := range s.active.mail {
		s.addMail(in)
	}
	s.active.mail = nil
}

func (s *step) addMail(in peerMail) {
	m := in.Message
	m.ID = "amsg_" + s.NewID()
	if !s.isIdle() {
		m.TurnID = s.active.id
	}
	s.record(protocol.LinePeerDelivery, protocol.PeerDelivery{TriggerTurn: in.triggers})
	s.itemOfThread(m.Item())
}

// hasTask reports whether a message waits that the model has to answer in this turn.
func (s *step) hasTask() bool {
	return slices.ContainsFunc(s.active.mail, func(in peerMail) bool { return in.triggers })
}

// getTask adds a task of another agent to the active turn. A turn that takes no input ends first.
func (s *step) getTask(in TurnStart) {
	switch t := s.active; {
	case !t.kind.takesInput():
		s.waiting = append(s.waiting, waiter{in.To, in})
	case t.kind == shellTurn:
		s.convertToModelTurn(in.settings(s), in.Env)
		s.queueMail(peerMail{*in.Mail, true})
		s.steerTurn(nil, nil, nil, nil)
	default:
		s.queueMail(peerMail{*in.Mail, true})
		if s.isEnding() { // turn/completed was not sent
			s.becomePreparing(t)
			s.requestModel()
		}
	}
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
