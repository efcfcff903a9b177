package engine

import (
	"go.uber.org/zap"

	"appserver/protocol"
)

// adoptAgents adds the open agents of a thread that was loaded to the team. Those that had work are looked at: a crash
// may have ended them before the thread got their results.
func (a *actor) adoptAgents() {
	if a.thread == nil {
		return
	}
	self := a.self()
	for _, open := range a.thread.Agents() {
		state := protocol.AgentState{Status: protocol.AgentRunning}
		if open.State != nil {
			state = *open.State
		}
		if !a.engine.team.adopt(agent{id: open.ID, parent: a.id, root: self.root, depth: self.depth + 1, state: state}) {
			continue
		}
		if open.State == nil {
			a.engine.spawn(func() { a.engine.settleAgent(open.ID) })
		}
	}
	for _, conn := range a.subscribers {
		a.followAgents(conn)
	}
}

// settleAgent finds out what became of an agent whose process has ended. A turn that waits for an answer continues.
// Any other turn without an end was interrupted.
func (e *Engine) settleAgent(id string) {
	stored, err := e.loadStored(id)
	if err != nil {
		e.parts.Log.Warn("the thread of an agent cannot be read", zap.String("thread", id), zap.Error(err))
		e.agentFailed(id, err)
		return
	}
	defer stored.close()
	if stored.Resumable() {
		_, err := e.post(id, true, request{do: func(*actor) {}, absent: func(child *actor) { child.loadAgent(func() {}) }})
		if err == nil {
			return
		}
	}
	turn := stored.LastTurnSummary()
	if turn.Status == protocol.TurnInProgress || turn.ID == "" {
		turn.Status = protocol.TurnInterrupted
	}
	e.agentEnded(id, agentState(turn))
}
