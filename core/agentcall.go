package core

import (
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
	// Offered is set if the model has the tools. ByPath is set if agents have paths and send each other messages.
	Offered, ByPath bool
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
	// Activity shows clients an agent with a path that the call started, informed or interrupted. It is nil otherwise.
	Activity *protocol.SubAgentActivityItem
}

func (CallAgents) effect() {}

func (in AgentsCalled) apply(s *step) { s.agentsCalled(in) }

// agentTools returns the tools about other agents. Those for agents with ids and those for agents with paths share some
// names.
func agentTools() (tools []builtInTool) {
	known := map[string]bool{}
	for _, spec := range slices.Concat(toolspec.AgentSpecs(""), toolspec.PeerSpecs()) {
		if known[spec.Name] {
			continue
		}
		known[spec.Name] = true
		tools = append(tools, builtInTool{
			name: spec.Name,
			namespace: func(t *Thread) string {
				if t.capabilities.Agents.ByPath {
					return protocol.PeersNamespace
				}
				return protocol.AgentsNamespace
			},
			spec: func(t *Thread) ToolSpec {
				if found, has := t.agentSpec(spec.Name); has {
					return found
				}
				return spec
			},
			offered: func(t *Thread) bool {
				_, found := t.agentSpec(spec.Name)
				return found && t.callsAgents()
			},
			decode: func(s *step, c *toolCall) (callKind, error) { return s.decodeAgentCall(spec.Name, c) },
		})
	}
	return tools
}

func (s *step) decodeAgentCall(tool string, c *toolCall) (callKind, error) {
	parse := toolspec.ParseAgentCall
	if s.capabilities.Agents.ByPath {
		parse = toolspec.ParsePeerCall
	}
	call, err := parse(tool, c.call.Arguments)
	if err != nil {
		return nil, err
	}
	if problem := call.Problem(); problem != "" {
		return &textCall{text: problem}, nil
	}
	if call.ByPath && call.Tool == toolspec.WaitAgent {
		return &mailCall{call}, nil
	}
	return &agentCall{call}, nil
}

// agentCall is a call about other agents.
type agentCall struct{ AgentCall }

// readsOnly permits calls that wait beside others: they change nothing.
func (k *agentCall) readsOnly(*step) bool { return k.Tool == toolspec.WaitAgent }

func (k *agentCall) start(s *step, c *toolCall) {
	if !k.ByPath {
		c.item = s.newItem(k.newItem(s, c), s.Now)
		s.notifyStarted(c.item)
	}
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
	if !k.ByPath {
		s.completeAgentItem(in, c, k)
	} else if in.Activity != nil {
		s.showActivity(c.call.ID, *in.Activity)
	}
	output := in.Output
	if s.isEnding() && in.Failed {
		output = abortedOutputText
	}
	s.completeCall(c, output)
	s.effectOfCallEnded()
}

// completeAgentItem completes the item of a call about agents without paths.
func (s *step) completeAgentItem(in AgentsCalled, c *toolCall, k *agentCall) {
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
}
