package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"appserver/core"
	"appserver/protocol"
)

// team has the agents that threads have started in this process, by the ids of their threads.
type team struct {
	mu     sync.Mutex
	agents map[string]*agent
	// changed is closed and replaced when the state of an agent changes.
	changed chan struct{}
}

// agent is a thread that another one has started.
type agent struct {
	id string
	// parent is the thread that started it, and root the first one of the tree.
	parent, root   string
	nickname, role string
	// path is the place in the tree of agents with paths, or "".
	path string
	// depth is the number of its ancestors.
	depth int
	state protocol.AgentState
	// closed is set after the agent was closed. It does not count then.
	closed bool
	// task is the first message until the first turn begins, and turn the root of the turn in which the agent was started.
	task []protocol.UserInput
	turn string
	// mail is the first message of an agent with a path, until its first turn begins, or nil.
	mail *core.PeerMail
}

// counts reports whether the agent counts against the limit of its tree. An agent with a path is never closed, and
// counts while it works.
func (a *agent) counts() bool { return !a.closed && (a.path == "" || !a.state.IsFinal()) }

// agentWork has the functions for agents that a thread calls in the midst of its own work. New sets it, because agents
// begin, end and unload threads themselves.
type agentWork struct {
	// watch takes notice of a notification before clients get it.
	watch func(a *actor, n protocol.Notification)
	// call returns the work of a call about other agents.
	call func(a *actor, e core.CallAgents) work
	// begin begins the work of agents that have started.
	begin func(e *Engine, started map[string]protocol.AgentState)
}

func newTeam() *team { return &team{agents: map[string]*agent{}, changed: make(chan struct{})} }

// The errors of add, in the words of the reference implementation.
var errAgentLimit = errors.New("agent thread limit reached")

type pathTakenError struct{ path string }

func (e *pathTakenError) Error() string { return "agent path `" + e.path + "` already exists" }

// add adds an agent, unless its tree has as many of them as the limit, or one with its path.
func (t *team) add(a agent, limit int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	count := 0
	for _, other := range t.agents {
		if other.root != a.root {
			continue
		}
		if a.path != "" && other.path == a.path {
			return &pathTakenError{a.path}
		}
		if other.counts() {
			count++
		}
	}
	if count >= limit {
		return errAgentLimit
	}
	t.agents[a.id] = &a
	return nil
}

func (t *team) remove(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.agents, id)
}

// find returns an agent, open or not.
func (t *team) find(id string) (agent, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.agents[id]; a != nil {
		return *a, true
	}
	return agent{}, false
}

// change changes an agent, and wakes those that wait for it. It returns the agent before.
func (t *team) change(id string, change func(*agent)) (before agent, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.agents[id]
	if a == nil {
		return agent{}, false
	}
	before = *a
	change(a)
	close(t.changed)
	t.changed = make(chan struct{})
	return before, true
}

// children returns the open agents that a thread has started.
func (t *team) children(parent string) (ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.agents {
		if a.parent == parent && !a.closed {
			ids = append(ids, a.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// states returns the states of agents of a tree, and a channel that is closed when one changes.
func (t *team) states(root string, ids []string) (states map[string]protocol.AgentState, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	states = map[string]protocol.AgentState{}
	for _, id := range ids {
		states[id] = protocol.AgentState{Status: protocol.AgentNotFound}
		if a := t.agents[id]; a != nil && a.root == root && !a.closed {
			states[id] = a.state
		}
	}
	return states, t.changed
}

// await returns the states of the agents that are done, when at least one of them is. It returns none after the
// time, or at the end of ctx.
func (t *team) await(
	ctx context.Context, root string, ids []string, wait time.Duration,
) map[string]protocol.AgentState {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		states, changed := t.states(root, ids)
		for id, state := range states {
			if !state.IsFinal() {
				delete(states, id)
			}
		}
		if len(states) > 0 {
			return states
		}
		select {
		case <-changed:
		case <-timer.C:
			return states
		case <-ctx.Done():
			return states
		}
	}
}

// adopt adds an agent that was started earlier, and reports whether it was not known.
func (t *team) adopt(a agent) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.agents[a.id] != nil {
		return false
	}
	t.agents[a.id] = &a
	return true
}
