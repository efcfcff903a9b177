package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"appserver/core"
	"appserver/protocol"
)

// The outputs of calls about agents with paths that fail, in the words of the reference implementation.
const (
	pathNotFound  = "live agent path `%s` not found"
	rootNoAgent   = "root is not a spawned agent"
	selfInterrupt = "an agent cannot interrupt itself; return your result and let the parent interrupt you if needed"
	rootNoTask    = "tasks cannot be assigned to the root agent: send it a message"
)

// callPeer sends a message to an agent with a path, ends its turn, or lists agents.
func (e *Engine) callPeer(call core.CallAgents, self agent) core.AgentsCalled {
	done := core.AgentsCalled{Effect: call.ID}
	if call.Call.Tool == core.ListAgents {
		done.Output = e.listPeers(self.root, call.Call.Prefix)
		return done
	}
	target, problem := e.findPeer(self, call.Call.Targets[0])
	if problem == "" {
		problem = peerProblem(call.Call.Tool, self, target)
	}
	if problem != "" {
		done.Failed, done.Output = true, problem
		return done
	}
	done.Activity = &protocol.SubAgentActivityItem{Kind: protocol.AgentActivityInteracted, AgentThreadID: target.id,
		AgentPath: target.path}
	if call.Call.Tool == core.InterruptAgent {
		done.Activity.Kind = protocol.AgentActivityInterrupted
		done.Output = marshalOutput(map[string]json.RawMessage{"previous_status": target.state.Stored()})
		e.interruptAgent(target.id)
		return done
	}
	if err := e.sendPeer(call, self, target); err != nil {
		return core.AgentsCalled{Effect: call.ID, Failed: true, Output: withCode(err).Message}
	}
	return done
}

// peerProblem returns why a call for an agent is refused, or "".
func peerProblem(tool string, self, target agent) string {
	isRoot := target.path == protocol.RootAgentPath
	switch {
	case tool == core.FollowupTask && isRoot:
		return rootNoTask
	case tool == core.InterruptAgent && isRoot:
		return rootNoAgent
	case tool == core.InterruptAgent && target.id == self.id:
		return selfInterrupt
	}
	return ""
}

// findPeer returns the agent of the same tree with an id, a path, or a name below the path of self. The problem is ""
// if there is one.
func (e *Engine) findPeer(self agent, target string) (found agent, problem string) {
	if checkID("", target) == nil {
		if target == self.root {
			return agent{id: self.root, root: self.root, path: protocol.RootAgentPath}, ""
		}
		if found, known := e.team.find(target); known && found.root == self.root && found.path != "" {
			return found, ""
		}
		return found, fmt.Sprintf(agentNotFound, target)
	}
	path := strings.TrimSuffix(target, "/")
	if !strings.HasPrefix(path, "/") {
		path = self.path + "/" + path
	}
	if path == protocol.RootAgentPath {
		return agent{id: self.root, root: self.root, path: path}, ""
	}
	for _, other := range e.team.tree(self.root) {
		if other.path == path {
			return other, ""
		}
	}
	return found, fmt.Sprintf(pathNotFound, path)
}

// sendPeer sends a message or a task to an agent.
func (e *Engine) sendPeer(call core.CallAgents, self, target agent) error {
	mail := core.PeerMail{Message: protocol.PeerMessage{Author: self.path, Recipient: target.path, Kind: protocol.PeerNote,
		Payload: call.Call.Text()}}
	if call.Call.Tool == core.SendMessage {
		return e.changeThread(protocol.Caller{}, target.id, mail)
	}
	mail.Message.Kind = protocol.PeerTask
	e.team.change(target.id, func(a *agent) { a.state = protocol.AgentState{Status: protocol.AgentRunning} })
	_, err := e.post(target.id, true, request{
		do:     func(child *actor) { child.beginPeerTurn(&mail, call.Root) },
		absent: func(child *actor) { child.loadAgent(func() { child.beginPeerTurn(&mail, call.Root) }) },
	})
	if err != nil {
		e.team.change(target.id, func(a *agent) { a.state = target.state })
	}
	return err
}

// beginPeerTurn gives the agent a task of another agent, in a turn of its own or in the active one. A turn that cannot
// begin fails the agent.
func (a *actor) beginPeerTurn(mail *core.PeerMail, root string) {
	in, err := a.turnStart(protocol.Caller{},
		&protocol.TurnStartParams{ThreadID: a.id, Input: []protocol.UserInput{}, RootTurnID: protocol.OrNil(root)})
	if err != nil {
		a.engine.agentFailed(a.id, err)
		return
	}
	in.Mail = mail
	a.step(in)
}

// finalAnswer returns the answer of an agent whose turn has ended, for its parent.
func finalAnswer(of *agent, turn string, state protocol.AgentState) core.PeerMail {
	payload := ""
	switch {
	case state.Message != nil:
		payload = *state.Message
	case state.Status == protocol.AgentInterrupted:
		payload = "The agent was interrupted."
	}
	if state.Status == protocol.AgentErrored {
		payload = "The agent failed: " + payload
	}
	return core.PeerMail{Agent: of.id, Turn: turn, Message: protocol.PeerMessage{Author: of.path,
		Recipient: parentPath(of.path), Kind: protocol.PeerAnswer, Payload: payload}}
}

func parentPath(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

type listedPeer struct {
	Name   string          `json:"agent_name"`
	Status json.RawMessage `json:"agent_status"`
}

// listPeers returns the agents of a tree at or below a path, sorted by their paths.
func (e *Engine) listPeers(root, prefix string) string {
	listed := []listedPeer{}
	all := append([]agent{{id: root, path: protocol.RootAgentPath, state: e.rootState(root)}}, e.team.tree(root)...)
	for _, a := range all {
		if prefix == "" || a.path == prefix || strings.HasPrefix(a.path, prefix+"/") {
			listed = append(listed, listedPeer{a.path, a.state.Stored()})
		}
	}
	return marshalOutput(map[string][]listedPeer{"agents": listed})
}

// rootState returns the state of the first agent of a tree.
func (e *Engine) rootState(root string) protocol.AgentState {
	state := protocol.AgentState{Status: protocol.AgentCompleted}
	if a := e.find(root); a != nil {
		if turn := a.turn.Load(); turn != nil && *turn != "" {
			state.Status = protocol.AgentRunning
		}
	}
	return state
}

// tree returns the agents with paths of a tree, sorted by their paths.
func (t *team) tree(root string) (agents []agent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.agents {
		if a.root == root && a.path != "" && !a.closed {
			agents = append(agents, *a)
		}
	}
	slices.SortFunc(agents, func(a, b agent) int { return cmp.Compare(a.path, b.path) })
	return agents
}
