package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"appserver/core"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// The outputs of calls that fail, in the words of the reference implementation.
const (
	agentNotFound = "agent with id %s not found"
	spawnFailed   = "collab spawn failed: %v"
)

// self returns the thread as an agent. The first thread of a tree is its root.
func (a *actor) self() agent {
	if known, ok := a.engine.team.find(a.id); ok {
		return known
	}
	of := a.thread.Spawned()
	if of.ParentThreadID == nil {
		return agent{id: a.id, root: a.id}
	}
	return agent{id: a.id, parent: *of.ParentThreadID, root: a.thread.SessionID(), depth: of.Depth}
}

// callAgents returns the work of a call about other agents.
func (a *actor) callAgents(e core.CallAgents) work {
	self := a.self()
	switch e.Call.Tool {
	case toolspec.SpawnAgent:
		return a.spawnAgent(e, self)
	case toolspec.WaitAgent:
		return func(ctx context.Context, _ func(core.Input)) core.Input { return a.engine.awaitAgents(ctx, e, self) }
	}
	return func(ctx context.Context, _ func(core.Input)) core.Input {
		done := a.engine.callAgent(ctx, e, self)
		done.Effect = e.ID
		return done
	}
}

// callAgent sends a message to an agent, closes it, or opens it again.
func (e *Engine) callAgent(ctx context.Context, call core.CallAgents, self agent) core.AgentsCalled {
	id := call.Call.Targets[0]
	if checkID("invalid agent id", id) != nil {
		return failedCall(id, fmt.Sprintf("invalid agent id %s", id))
	}
	target, found := e.team.find(id)
	if !found || target.root != self.root || target.closed != (call.Call.Tool == toolspec.ResumeAgent) {
		return failedCall(id, fmt.Sprintf(agentNotFound, id))
	}
	switch call.Call.Tool {
	case toolspec.SendInput:
		e.tellAgent(id, call.Call, call.Root)
		return core.AgentsCalled{States: map[string]protocol.AgentState{id: target.state},
			Output: marshalOutput(map[string]string{"submission_id": e.parts.NewID()})}
	case toolspec.CloseAgent:
		e.closeAgent(id)
		return core.AgentsCalled{States: map[string]protocol.AgentState{id: target.state},
			Output: marshalOutput(map[string]json.RawMessage{"previous_status": target.state.Stored()})}
	default:
		return e.openAgent(ctx, id, self)
	}
}

// failedCall returns the end of a call for an agent that does not exist.
func failedCall(id, output string) core.AgentsCalled {
	return core.AgentsCalled{Failed: true, Output: output,
		States: map[string]protocol.AgentState{id: {Status: protocol.AgentNotFound}}}
}

func marshalOutput(v any) string {
	raw, err := protocol.Marshal(v)
	if err != nil {
		return "" // texts always encode
	}
	return string(raw)
}

// tellAgent gives an agent a message, in a turn of its own or in the active one. root is the turn on whose behalf the
// turn runs.
func (e *Engine) tellAgent(id string, call core.AgentCall, root string) {
	e.team.change(id, func(a *agent) { a.state = protocol.AgentState{Status: protocol.AgentRunning} })
	if call.Interrupt {
		e.interruptAgent(id)
	}
	_, err := e.post(id, true, request{
		do:     func(child *actor) { child.beginAgentTurn(call.Input, root) },
		absent: func(child *actor) { child.loadAgent(func() { child.beginAgentTurn(call.Input, root) }) },
	})
	if err != nil {
		e.agentFailed(id, err)
	}
}

// interruptAgent ends the active turn of an agent. That ends the turns of those that it has started.
func (e *Engine) interruptAgent(id string) {
	_, _ = e.post(id, false, request{urgent: true, absent: func(*actor) {},
		do: func(child *actor) { child.step(core.TurnInterrupt{}) }}) // an agent that is not loaded has no turn
}

// beginAgentTurn starts a turn with a message of another agent. A turn that cannot begin fails the agent.
func (a *actor) beginAgentTurn(input []protocol.UserInput, root string) {
	in, err := a.turnStart(protocol.Caller{},
		&protocol.TurnStartParams{ThreadID: a.id, Input: input, RootTurnID: protocol.OrNil(root)})
	if err != nil {
		a.engine.agentFailed(a.id, err)
		return
	}
	a.step(in)
}

// loadAgent loads the thread of an agent, for the clients of its parent, and then calls do.
func (a *actor) loadAgent(do func()) {
	of, _ := a.engine.team.find(a.id)
	if err := a.load(protocol.Caller{}, &protocol.ThreadResumeParams{ThreadID: a.id, ExcludeTurns: true}, ""); err != nil {
		a.closeThread()
		a.engine.agentFailed(a.id, err)
		return
	}
	a.engine.followAgents(of.parent)
	do()
}

// agentFailed ends an agent whose turn could not begin.
func (e *Engine) agentFailed(id string, err error) {
	e.agentEnded(id, protocol.AgentState{Status: protocol.AgentErrored, Message: new(withCode(err).Message)})
}

// agentEnded records the state of an agent that does nothing any more, and tells its parent.
func (e *Engine) agentEnded(id string, state protocol.AgentState) {
	before, found := e.team.change(id, func(a *agent) { a.state = state })
	if !found || before.closed {
		return
	}
	_ = e.changeThread(protocol.Caller{}, before.parent, core.AgentEnded{Agent: id, State: state}) // a deleted parent needs nothing
}

// closeAgent ends an agent and those that it has started, and unloads them.
func (e *Engine) closeAgent(id string) {
	for _, child := range e.team.children(id) {
		e.closeAgent(child)
	}
	e.team.change(id, func(a *agent) { a.closed, a.state = true, protocol.AgentState{Status: protocol.AgentShutdown} })
	_, _ = e.post(id, false, request{urgent: true, absent: func(*actor) {}, do: func(child *actor) {
		child.endTurn()
		if child.thread == nil {
			return
		}
		followers := child.subscribers
		child.unload()
		child.notifyTo(followers, statusNotLoaded(child.id), protocol.ThreadClosedNotification{ThreadID: child.id})
	}}) // an agent that is not loaded needs no end
}

// openAgent opens an agent again that was closed.
func (e *Engine) openAgent(ctx context.Context, id string, self agent) core.AgentsCalled {
	opened := make(chan struct{})
	e.team.change(id, func(a *agent) { a.closed, a.state = false, protocol.AgentState{Status: protocol.AgentPending} })
	_, err := e.post(id, true, request{do: func(*actor) { close(opened) },
		absent: func(child *actor) {
			defer close(opened)
			child.loadAgent(func() {})
		}})
	if err != nil {
		e.agentFailed(id, err)
		return failedCall(id, withCode(err).Message)
	}
	select {
	case <-opened:
	case <-ctx.Done():
	}
	states, _ := e.team.states(self.root, []string{id})
	return core.AgentsCalled{States: states,
		Output: marshalOutput(map[string]json.RawMessage{"status": states[id].Stored()})}
}

// awaitAgents waits until one of the agents of a call is done.
func (e *Engine) awaitAgents(ctx context.Context, call core.CallAgents, self agent) core.AgentsCalled {
	done := core.AgentsCalled{Effect: call.ID}
	for _, id := range call.Call.Targets {
		if checkID("invalid agent id", id) != nil {
			done.Failed, done.Output = true, fmt.Sprintf("invalid agent id %s", id)
			return done
		}
	}
	done.States = e.team.await(ctx, self.root, call.Call.Targets, call.Call.Wait)
	stored := map[string]json.RawMessage{}
	for id, state := range done.States {
		stored[id] = state.Stored()
		done.Failed = done.Failed || state.Status == protocol.AgentNotFound || state.Status == protocol.AgentErrored
	}
	done.Failed = done.Failed || ctx.Err() != nil
	done.Output = marshalOutput(struct {
		Status   map[string]json.RawMessage `json:"status"`
		TimedOut bool                       `json:"timed_out"`
	}{stored, len(stored) == 0})
	return done
}

// followAgents subscribes the clients of a loaded thread to the agents that it has started.
func (e *Engine) followAgents(parent string) {
	e.inThread(parent, func(a *actor) {
		for _, conn := range a.subscribers {
			a.followAgents(conn)
		}
	})
}

// followAgents subscribes a client to the loaded agents that the thread has started, and to theirs.
func (a *actor) followAgents(conn uint64) {
	for _, id := range a.engine.team.children(a.id) {
		a.engine.inThread(id, func(child *actor) {
			if child.thread == nil || child.subscribed(conn) {
				return
			}
			child.subscribe(conn)
			child.step(core.Follow{Conn: conn})
			child.followAgents(conn)
		})
	}
}

// watchAgent records what a notification says about the state of an agent, before clients get it. The end of a turn by
// an interrupt also ends the turns of the agents that the thread has started.
func (a *actor) watchAgent(n protocol.Notification) {
	switch n := n.(type) {
	case protocol.TurnStartedNotification:
		a.engine.team.change(a.id, func(of *agent) { of.state = protocol.AgentState{Status: protocol.AgentRunning} })
	case protocol.TurnCompletedNotification:
		if n.Turn.Status == protocol.TurnInterrupted {
			for _, id := range a.engine.team.children(a.id) {
				a.engine.interruptAgent(id)
			}
		}
		if _, isAgent := a.engine.team.find(a.id); isAgent {
			a.engine.agentEnded(a.id, agentState(n.Turn))
		}
	}
}

// agentState returns the state of an agent after a turn.
func agentState(turn protocol.Turn) protocol.AgentState {
	switch turn.Status {
	case protocol.TurnInterrupted:
		return protocol.AgentState{Status: protocol.AgentInterrupted}
	case protocol.TurnFailed:
		state := protocol.AgentState{Status: protocol.AgentErrored}
		if turn.Error != nil {
			state.Message = &turn.Error.Message
		}
		return state
	}
	state := protocol.AgentState{Status: protocol.AgentCompleted}
	for _, item := range turn.Items {
		if m, ok := item.ThreadItemVariant.(*protocol.AgentMessageItem); ok {
			state.Message = &m.Text
		}
	}
	return state
}

// agentWait bounds the time to create the thread of an agent.
const agentWait = 30 * time.Second
