package state

import (
	"encoding/json"
	"slices"

	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// Agent is an open agent that the thread has started.
type Agent struct {
	// ID is the id of its thread, and Path its place in the tree of agents with paths, or "".
	ID, Path string
	// State is that of the last report, or nil if the agent has been given work since.
	State *protocol.AgentState
}

// applyAgentCall applies a call about other agents.
func (s *State) applyAgentCall(payload json.RawMessage) {
	item := transcript.DecodeItem(payload)
	call, ok := item.ThreadItemVariant.(*protocol.CollabAgentToolCallItem)
	if !ok || call.Status != protocol.AgentCallCompleted || call.SenderThreadID != s.ID {
		return // a fork has the calls of its origin, and none of its agents
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

// applyAgentActivity applies what an agent with a path did or got.
func (s *State) applyAgentActivity(payload json.RawMessage) {
	activity, ok := transcript.DecodeItem(payload).ThreadItemVariant.(*protocol.SubAgentActivityItem)
	if !ok || activity.AgentThreadID == s.ID {
		return
	}
	id := activity.AgentThreadID
	switch activity.Kind {
	case protocol.AgentActivityStarted:
		s.setAgent(id, nil)
		s.Agents[slices.IndexFunc(s.Agents, func(a Agent) bool { return a.ID == id })].Path = activity.AgentPath
	case protocol.AgentActivityInteracted:
		if s.agentAt(activity.AgentPath) != "" && s.Context.CallName(activity.ID) == followupTask {
			s.setAgent(id, nil)
		}
	case protocol.AgentActivityInterrupted:
		if s.agentAt(activity.AgentPath) != "" {
			s.setAgent(id, &protocol.AgentState{Status: protocol.AgentInterrupted})
		}
	}
}

// followupTask is the tool by which an agent with a path gets another task.
const followupTask = "followup_task"

// agentAt returns the id of the agent with a path that the thread has started, or "".
func (s *State) agentAt(path string) string {
	for _, a := range s.Agents {
		if a.Path == path && path != "" {
			return a.ID
		}
	}
	return ""
}

// applyAnswer applies the answer of an agent with a path.
func (s *State) applyAnswer(payload json.RawMessage) {
	var item protocol.ResponseItem
	if item.UnmarshalJSON(payload) != nil {
		return
	}
	m, ok := protocol.ReadPeerMessage(item)
	if id := s.agentAt(m.Author); ok && m.Kind == protocol.PeerAnswer && id != "" {
		s.setAgent(id, &protocol.AgentState{Status: protocol.AgentCompleted, Message: &m.Payload})
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
	switch {
	case len(s.Agents) == 0:
		return
	case peek(payload, "type") == protocol.PeerMessageType:
		s.applyAnswer(payload)
		return
	case peek(payload, "role") != protocol.RoleUser:
		return
	}
	notice, found := protocol.ParseAgentNotice(peek(payload, "content.0.text"))
	if found && slices.ContainsFunc(s.Agents, func(a Agent) bool { return a.ID == notice.ThreadID }) {
		s.setAgent(notice.ThreadID, &notice.State)
	}
}
