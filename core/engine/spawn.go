package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"appserver/core"
	"appserver/core/effects/workspace"
	"appserver/protocol"
)

// newAgent is an agent that is about to start.
type newAgent struct {
	agent
	settings core.Settings
	meta     protocol.SessionMeta
	scope    *Scope
	// ephemeral is set if the thread that starts it keeps no rollout.
	ephemeral bool
	// branch has the context of the parent, or is nil.
	branch *branch
	// items are the chosen items of the parent. turns bounds the turns of the branch, or is 0.
	items       []protocol.ResponseItem
	turns       int
	subscribers []uint64
}

// discard releases the context of an agent that does not start.
func (n *newAgent) discard() {
	if n.branch != nil && n.branch.builder.lineReader != nil {
		_ = n.branch.builder.lineReader.Close() // it was opened for reading
	}
}

// spawnAgent returns the work that starts an agent. What the agent inherits is read here, in the goroutine of its
// parent.
func (a *actor) spawnAgent(e core.CallAgents, self agent) work {
	n, err := a.planAgent(e, self)
	return func(ctx context.Context, _ func(core.Input)) core.Input {
		if err == nil {
			err = a.engine.createAgent(ctx, n)
		}
		if err != nil {
			return core.AgentsCalled{Effect: e.ID, Failed: true, Output: spawnOutput(err),
				States: map[string]protocol.AgentState{}}
		}
		if n.path != "" {
			return n.started(e.ID)
		}
		return core.AgentsCalled{Effect: e.ID, Model: n.settings.Model, Reasoning: effortOf(n.settings),
			States: map[string]protocol.AgentState{n.id: {Status: protocol.AgentPending}},
			Output: marshalOutput(struct {
				AgentID  string `json:"agent_id"`
				Nickname string `json:"nickname"`
			}{n.id, n.nickname})}
	}
}

// spawnOutput returns the output of a call that started no agent.
func spawnOutput(err error) string {
	var role *roleError
	if errors.As(err, &role) {
		return role.text
	}
	if taken := new(pathTakenError); errors.As(err, &taken) {
		return taken.Error()
	}
	return fmt.Sprintf(spawnFailed, withCode(err).Message)
}

// started returns the end of a call that has started an agent with a path.
func (n *newAgent) started(effect core.EffectID) core.AgentsCalled {
	return core.AgentsCalled{Effect: effect, States: map[string]protocol.AgentState{n.id: {Status: protocol.AgentPending}},
		Activity: &protocol.SubAgentActivityItem{Kind: protocol.AgentActivityStarted, AgentThreadID: n.id, AgentPath: n.path,
			Model: &n.settings.Model, ReasoningEffort: n.settings.Effort},
		Output: marshalOutput(map[string]string{"task_name": n.path})}
}

func effortOf(s core.Settings) string {
	if s.Effort == nil {
		return ""
	}
	return *s.Effort
}

// planAgent returns an agent with the settings of its parent, and adds it to the team.
func (a *actor) planAgent(e core.CallAgents, self agent) (*newAgent, error) {
	rules, call := a.thread.AgentRules(), e.Call
	if self.depth >= rules.MaxDepth {
		return nil, protocol.Refuse(protocol.KindInvalidRequest,
			"agent depth limit reached: do the task yourself")
	}
	now := time.Now()
	role, err := a.roleOf(call)
	if err != nil {
		return nil, err
	}
	settings, err := settingsOf(a.thread.Settings(), role, call, rules)
	if err != nil {
		return nil, err
	}
	n := &newAgent{settings: settings, scope: a.scope, ephemeral: a.options.Ephemeral,
		subscribers: slices.Clone(a.subscribers)}
	n.agent = agent{id: a.engine.parts.NewID(), parent: a.id, root: self.root, depth: self.depth + 1, role: call.Role,
		turn: e.Root, state: protocol.AgentState{Status: protocol.AgentPending}}
	n.nickname = nickname(n.id, role)
	if call.ByPath {
		n.path, n.state = self.path+"/"+call.Name, protocol.AgentState{Status: protocol.AgentRunning}
		n.mail = &core.PeerMail{Message: protocol.PeerMessage{Author: self.path, Recipient: n.path,
			Kind: protocol.PeerTask, Payload: call.Text()}}
	} else {
		n.task = call.Input
	}
	n.meta = a.agentMeta(n.agent, now)
	applyRole(&n.meta, role, a.thread)
	if call.Chosen != nil {
		items, err := a.thread.ItemsFor(call.Chosen)
		if err != nil {
			return nil, err
		}
		n.items = items
	}
	if call.Fork || call.ByPath && call.Turns != 0 {
		request := a.thread.LastTurnRequest()
		fork := &protocol.ThreadForkParams{ThreadID: a.id, Ephemeral: n.ephemeral, BeforeRequestID: &request}
		n.meta.ForkedFromID = &a.id
		b, err := a.branch(n.id, func(*core.Thread, time.Time) protocol.SessionMeta { return n.meta }, fork, "")
		if err != nil {
			return nil, err
		}
		n.branch, n.turns = b, max(call.Turns, 0)
	}
	if err := a.engine.team.add(n.agent, rules.MaxOpen); err != nil {
		n.discard()
		return nil, err
	}
	return n, nil
}

// agentMeta returns the first line of an agent's thread.
func (a *actor) agentMeta(of agent, now time.Time) protocol.SessionMeta {
	meta := a.thread.Successor(of.id, now)
	meta.SessionID, meta.CliVersion = of.root, a.engine.parts.Version
	meta.ParentThreadID, meta.ThreadSource = &of.parent, new(protocol.ThreadSourceAgent)
	meta.AgentNickname, meta.AgentRole = protocol.OrNil(of.nickname), protocol.OrNil(of.role)
	if meta.AgentPath = protocol.OrNil(of.path); of.path != "" {
		meta.MultiAgentVersion = protocol.MultiAgentPaths
	}
	meta.Source = protocol.SpawnedSource(protocol.Spawn{ParentThreadID: &of.parent, Depth: of.depth, Path: meta.AgentPath,
		Nickname: meta.AgentNickname, Role: meta.AgentRole})
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	meta.Git = workspace.Git(ctx, meta.Cwd)
	return meta
}

// createAgent creates the thread of an agent.
func (e *Engine) createAgent(ctx context.Context, n *newAgent) error {
	ctx, cancel := context.WithTimeout(ctx, agentWait)
	defer cancel()
	created := make(chan error, 1)
	_, err := e.post(n.id, true, request{absent: func(child *actor) {
		err := child.startAgent(n)
		if err != nil {
			child.closeThread()
		}
		created <- err
	}})
	if err == nil {
		select {
		case err = <-created:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		e.team.remove(n.id)
	}
	return err
}

// startAgent creates the thread of an agent in its own goroutine.
func (a *actor) startAgent(n *newAgent) error {
	a.scope, a.subscribers = n.scope, n.subscribers
	if n.branch != nil {
		thread := n.branch.builder.loading.Thread(core.Options{})
		a.lineReader = n.branch.builder.lineReader // of the parent, until the fork has a rollout
		return a.beginFork(thread, n.branch, core.Fork{Settings: n.settings, AtRequest: true, Unasked: true,
			Turns: n.turns}, n.scope,
			n.ephemeral)
	}
	env, err := a.turnEnv(n.settings)
	if err != nil && !notReady(err) {
		return err
	}
	if err := a.requireServers(n.settings.Cwd); err != nil {
		return err
	}
	a.options = a.engine.newOptions(a.config(), n.ephemeral)
	if !n.ephemeral {
		if err := a.createLog(time.Now(), nil); err != nil {
			return err
		}
	}
	a.thread = core.Load(a.id, a.options, n.settings, nil)
	return a.firstStep(protocol.Caller{},
		core.Start{Meta: n.meta, Settings: n.settings, Options: a.options, Env: env, History: n.items, Unasked: true})
}

// beginAgents starts the first turns of agents, after the clients of their parent know of them.
func (e *Engine) beginAgents(started map[string]protocol.AgentState) {
	for id := range started {
		before, _ := e.team.change(id, func(a *agent) { a.task, a.mail = nil, nil })
		switch {
		case before.mail != nil:
			e.inThread(id, func(child *actor) { child.beginPeerTurn(before.mail, before.turn) })
		case before.task != nil:
			e.inThread(id, func(child *actor) { child.beginAgentTurn(before.task, before.turn) })
		}
	}
}

// nicknames are names for agents.
var nicknames = []string{"Ada", "Alan", "Barbara", "Blaise", "Charles", "Chien", "Claude", "Dorothy", "Edith", "Emmy",
	"Erwin", "Evelyn", "Frances", "Galen", "Grace", "Hedy", "Hugo", "Ida", "Jean", "Joan", "Johannes", "Karen", "Katherine",
	"Lise", "Lynn", "Maria", "Mary", "Max", "Niels", "Noether", "Otto", "Rosalind", "Sophie", "Tycho", "Vera", "Wu"}

// nicknameOf chooses the name of an agent by its id.
func nicknameOf(id string) string { return chosenBy(id, nicknames) }

// chosenBy returns one of the names for an id.
func chosenBy(id string, names []string) string {
	sum := 0
	for _, r := range id {
		sum = (sum*31 + int(r)) % (1 << 20)
	}
	return names[sum%len(names)]
}
