package core

import (
	"encoding/json"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// AgentEnded tells a thread that an agent which it started has ended a turn.
type AgentEnded struct {
	// Agent is the id of the agent's thread.
	Agent string
	State protocol.AgentState
}

func (in AgentEnded) apply(s *step) { s.agentEnded(in) }

// agentEnded adds the result of an agent to the context: before the next model request of a turn, or at once.
func (s *step) agentEnded(in AgentEnded) {
	if !s.isIdle() {
		s.active.agentsEnded = append(s.active.agentsEnded, in)
		return
	}
	s.closeDanglingTurn()
	s.addAgentNotice(in)
	s.out.Sync = true
	s.contextChanged(nil)
}

// addAgentNotices adds the results that came since the last model request of the turn.
func (s *step) addAgentNotices() {
	for _, ended := range s.active.agentsEnded {
		s.addAgentNotice(ended)
	}
	s.active.agentsEnded = nil
}

// agentNotice is the JSON text of a notice, as the reference implementation writes it.
type agentNotice struct {
	AgentPath string          `json:"agent_path"`
	Status    json.RawMessage `json:"status"`
}

func (s *step) addAgentNotice(in AgentEnded) {
	text, err := protocol.Marshal(agentNotice{in.Agent, in.State.Stored()})
	if err != nil {
		return // texts always encode
	}
	s.itemOfThread(history.UserMessage(protocol.AgentNoticeTag + "\n" + string(text) + "\n" + protocol.AgentNoticeEnd))
}
