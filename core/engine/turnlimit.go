package engine

import (
	"fmt"
	"time"

	"appserver/core"
	"appserver/protocol"
)

// turnLimit ends a turn of an agent after the time that the configuration permits.
type turnLimit struct {
	turn    string
	seconds int64
	timer   *time.Timer
	// passed is set if the time is over.
	passed bool
}

// limitTurn bounds a turn that begins, if the thread is an agent.
func (a *actor) limitTurn(turn string) {
	_, isAgent := a.engine.team.find(a.id)
	seconds := a.thread.AgentRules().MaxSeconds
	if !isAgent || seconds == 0 {
		return
	}
	a.limit = &turnLimit{turn: turn, seconds: seconds}
	a.limit.timer = time.AfterFunc(time.Duration(seconds)*time.Second, func() {
		_, _ = a.engine.post(a.id, false, request{urgent: true, absent: func(*actor) {},
			do: func(of *actor) { of.endOverdue(turn) }}) // a thread that is not loaded has no turn
	})
}

// endOverdue interrupts a turn whose time is over.
func (a *actor) endOverdue(turn string) {
	if a.limit != nil && a.limit.turn == turn && a.thread != nil && a.thread.ActiveTurn() == turn {
		a.limit.passed = true
		a.step(core.TurnInterrupt{TurnID: turn})
	}
}

// endLimit returns the state of an agent after a turn: an error if its time was over.
func (a *actor) endLimit(turn string, state protocol.AgentState) protocol.AgentState {
	limit := a.limit
	if limit == nil || limit.turn != turn {
		return state
	}
	a.limit = nil
	limit.timer.Stop()
	if !limit.passed {
		return state
	}
	text := fmt.Sprintf("the agent was interrupted after %d seconds (agents.job_max_runtime_seconds)", limit.seconds)
	return protocol.AgentState{Status: protocol.AgentErrored, Message: &text}
}
