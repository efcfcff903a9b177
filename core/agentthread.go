package core

import (
	"cmp"
	"slices"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// The tools by which a model works with other agents.
const (
	SpawnAgent     = toolspec.SpawnAgent
	SendInput      = toolspec.SendInput
	WaitAgent      = toolspec.WaitAgent
	CloseAgent     = toolspec.CloseAgent
	ResumeAgent    = toolspec.ResumeAgent
	SendMessage    = toolspec.SendMessage
	FollowupTask   = toolspec.FollowupTask
	ListAgents     = toolspec.ListAgents
	InterruptAgent = toolspec.InterruptAgent
)

// agentSpec returns the tool with a name of the kind of agents that the thread starts.
func (t *Thread) agentSpec(name string) (spec ToolSpec, found bool) {
	specs := toolspec.PeerSpecs()
	if !t.capabilities.Agents.ByPath {
		specs = toolspec.AgentSpecs(t.capabilities.Agents.Roles)
	}
	i := slices.IndexFunc(specs, func(of ToolSpec) bool { return of.Name == name })
	if i < 0 {
		return spec, false
	}
	return specs[i], true
}

// callsAgents reports whether the model has the tools for agents. An agent at the largest depth has them only if it
// began with the context of its parent: its first request equals that of its parent.
func (t *Thread) callsAgents() bool {
	rules := t.capabilities.Agents
	forked := t.state.Meta.ForkedFromID != nil && !rules.ByPath
	return rules.Offered && (t.Spawned().Depth < rules.MaxDepth || forked)
}

// AgentRules returns the rules for agents that the thread starts.
func (t *Thread) AgentRules() AgentRules { return t.capabilities.Agents }

// Agents returns the open agents that the thread has started.
func (t *Thread) Agents() []StartedAgent { return t.state.Agents }

// Spawned describes the agent that the thread is. It has no parent if no agent started the thread.
func (t *Thread) Spawned() protocol.Spawn { return protocol.SpawnOf(t.state.Meta.Source) }

// AgentPath returns the place of the agent that the thread is, in the tree of agents with paths. It is that of the root
// for a thread that no agent started, and "" for an agent without a path.
func (t *Thread) AgentPath() string {
	of := t.Spawned()
	switch {
	case of.ParentThreadID == nil:
		return protocol.RootAgentPath
	case of.Path == nil:
		return ""
	}
	return *of.Path
}

// SessionID returns the id that the threads of one tree of agents share. The thread that began it has this id.
func (t *Thread) SessionID() string { return cmp.Or(t.state.Meta.SessionID, t.state.ID) }

// LastTurnRequest returns the id of the last model request of a turn, or "".
func (t *Thread) LastTurnRequest() string {
	for i := t.state.Requests() - 1; i >= 0; i-- {
		if t.state.Request(i).Kind == protocol.RequestTurn {
			return t.state.RequestID(i)
		}
	}
	return ""
}
