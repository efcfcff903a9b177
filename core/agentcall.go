package core

import (
	"cmp"
	"maps"
	"slices"

	"appserver/core/pure/state"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// AgentCall is a call about other agents.
type AgentCall = toolspec.AgentCall

// StartedAgent is an open agent that a thread has started.
type StartedAgent = state.Agent

// AgentRules configure the agents that a thread can start. The zero value permits none.
type AgentRules struct {
	// Offered is set if the model has the tools.
	Offered bool
	// MaxOpen is the largest number of open agents in a tree. MaxDepth is that of the ancestors of an agent.
	MaxOpen, MaxDepth int
	// Model and Effort are those of agents for which nothing else chooses them, or "".
	Model, Effort string
	// MaxSeconds bounds a turn of an agent; 0 is no bound.
	MaxSeconds int64
	// Roles are the kinds of agents that the model can choose: a line NAME: DESCRIPTION for each, or "".
	Roles string
}

// AgentRole is a kind of agents.
type AgentRole struct {
	Name, Description string
	// Model and Effort are those of its agents. If they are "", the caller chooses.
	Model, Effort string
	// Instructions are the developer instructions of its agents, or "" for those of the caller.
	Instructions string
	// Nicknames are names for its agents, or empty for any.
	Nicknames []string
	// Tools are the tools of its agents, or nil for all.
	Tools *protocol.AgentTools
	// Sandbox is the widest sandbox of its agents, or "" for that of the caller.
	Sandbox protocol.SandboxMode
	// Source is the file of the role. OfProject is set if it comes with a project.
	Source    string
	OfProject bool
}

// CallAgents starts, informs, awaits, closes or opens other agents. It ends with AgentsCalled.
type CallAgents struct {
	ID     EffectID
	TurnID string
	CallID string
	// Root is the turn on whose behalf the turn runs, or the turn itself.
	Root string
	Call AgentCall
}

// AgentsCalled ends a CallAgents.
type AgentsCalled struct {
	Effect EffectID
	// States are those of the receivers, by their ids.
	States map[string]protocol.AgentState
	// Model and Reasoning are those of an agent that has started.
	Model, Reasoning string
	// Output is for the model.
	Output string
	// Failed is set if the call did not do what it was for.
	Failed bool
}

func (CallAgents) effect() {}

func (in AgentsCalled) apply(s *step) { s.agentsCalled(in) }

// agentTools returns the tools about other agents.
func agentTools() (tools []builtInTool) {
	for i, spec := range toolspec.AgentSpecs("") {
		tools = append(tools, builtInTool{
			name:    spec.Name,
			spec:    func(t *Thread) ToolSpec { return toolspec.AgentSpecs(t.capabilities.Agents.Roles)[i] },
			offered: (*Thread).startsAgents,
			decode: func(_ *step, c *toolCall) (callKind, error) {
				call, err := toolspec.ParseAgentCall(spec.Name, c.call.Arguments)
				if problem := call.Problem(); err == nil && problem != "" {
					return &textCall{text: problem}, nil
				}
				return &agentCall{call}, err
			},
		})
	}
	return tools
}

// startsAgents reports whether the model has these tools. An agent that is as deep as permitted has none.
func (t *Thread) startsAgents() bool {
	rules := t.capabilities.Agents
	return rules.Offered && (t.Spawned().ParentThreadID == nil || t.Spawned().Depth < rules.MaxDepth)
}

// agentCall is a call about other agents.
type agentCall struct{ AgentCall }

// readsOnly permits calls that wait beside others: they change nothing.
func (k *agentCall) readsOnly(*step) bool { return k.Tool == toolspec.WaitAgent }

func (k *agentCall) start(s *step, c *toolCall) {
	c.item = s.newItem(k.newItem(s, c), s.Now)
	s.notifyStarted(c.item)
	s.effect(CallAgents{ID: s.runCall(c), TurnID: s.active.id, CallID: c.call.ID, Root: s.transcript.Last().Root,
		Call: k.AgentCall})
}

// agentToolNames are the names of the tools in items.
var agentToolNames = map[string]string{
	toolspec.SpawnAgent: protocol.AgentSpawns, toolspec.SendInput: protocol.AgentGetsInput,
	toolspec.WaitAgent: protocol.AgentsAwaited, toolspec.CloseAgent: protocol.AgentCloses,
	toolspec.ResumeAgent: protocol.AgentResumes,
}

// newItem returns the item of a call that begins.
func (k *agentCall) newItem(s *step, c *toolCall) *protocol.CollabAgentToolCallItem {
	item := &protocol.CollabAgentToolCallItem{
		ID: c.call.ID, Tool: agentToolNames[k.Tool], Status: protocol.AgentCallInProgress, SenderThreadID: s.state.ID,
		ReceiverThreadIDs: orEmpty(k.Targets), Prompt: protocol.OrNil(k.Text()),
		AgentsStates: map[string]protocol.AgentState{},
	}
	if k.Tool == toolspec.SpawnAgent {
		item.Model, item.ReasoningEffort = &k.Model, protocol.OrNil(k.Effort)
	}
	return item
}

func (s *step) agentsCalled(in AgentsCalled) {
	c, k := endedCall[*agentCall](s, in.Effect)
	if c == nil {
		return
	}
	item := *c.item.ThreadItemVariant.(*protocol.CollabAgentToolCallItem)
	item.Status, item.AgentsStates = protocol.AgentCallCompleted, in.States
	if in.Failed {
		item.Status = protocol.AgentCallFailed
	}
	if k.Tool == toolspec.SpawnAgent || k.Tool == toolspec.WaitAgent && !in.Failed {
		item.ReceiverThreadIDs = orEmpty(slices.Sorted(maps.Keys(in.States)))
	}
	if k.Tool == toolspec.SpawnAgent && !in.Failed {
		item.Model, item.ReasoningEffort = &in.Model, protocol.OrNil(in.Reasoning)
	}
	c.item.ThreadItemVariant = &item
	s.completeItem(c.item, nil)
	output := in.Output
	if s.isEnding() && in.Failed {
		output = abortedOutputText
	}
	s.completeCall(c, output)
	s.effectOfCallEnded()
}

// AgentRules returns the rules for agents that the thread starts.
func (t *Thread) AgentRules() AgentRules { return t.capabilities.Agents }

// Agents returns the open agents that the thread has started.
func (t *Thread) Agents() []StartedAgent { return t.state.Agents }

// Spawned describes the agent that the thread is. It has no parent if no agent started the thread.
func (t *Thread) Spawned() protocol.Spawn { return protocol.SpawnOf(t.state.Meta.Source) }

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
