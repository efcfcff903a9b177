package state

import (
	"encoding/json"
	"slices"

	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// Agent is an open agent that the thread has started.
type Agent struct {
	// ID is the id of its thread.
	ID string
	// State is that of the last report, or nil if the agent has been given work since.
	State *protocol.AgentState
}

// applyAgentCall applies a call about other agents.
func (s *State) applyAgentCall(payload json.RawMessage) {
	item := transcript.DecodeItem(payload)
	call, ok := item.ThreadItemVariant.(*protocol.CollabAgentToolCallItem)
	if !ok || call.Status != protocol.AgentCallCompleted {
		return
	}
	for _, id := range call.ReceiverThreadIDs {
		switch call.Tool {
		case protocol.AgentSpawns, protocol.AgentGetsInput:
			s.setAgent(id, nil)
		case protocol.AgentResumes:
			state := call.AgentsStates[id]
			s.setAgent(id, &state)
		case protocol.AgentCloses:
			s.Agents = slices.DeleteFunc(slices.Clone(s.Agents), func(a Agent) bool { return a.ID == id })
		}
	}
}

func (s *State) setAgent(id string, state *protocol.AgentState) {
	s.Agents = slices.Clone(s.Agents)
	i := slices.IndexFunc(s.Agents, func(a Agent) bool { return a.ID == id })
	if i < 0 {
		i, s.Agents = len(s.Agents), append(s.Agents, Agent{ID: id})
	}
	s.Agents[i].State = state
}

// applyAgentNotice applies a message that reports the state of an agent.
func (s *State) applyAgentNotice(payload json.RawMessage) {
	if len(s.Agents) == 0 || peek(payload, "role") != protocol.RoleUser {
		return
	}
	notice, found := protocol.ParseAgentNotice(peek(payload, "content.0.text"))
	if found && slices.ContainsFunc(s.Agents, func(a Agent) bool { return a.ID == notice.ThreadID }) {
		s.setAgent(notice.ThreadID, &notice.State)
	}
}
