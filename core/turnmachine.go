package core

import (
	"fmt"
	"slices"

	"appserver/protocol"
)

// turnState is a state of the active turn. docs/turns.md has the table of the states, and of those that follow each.
// Only this file changes the state, the active turn and its outcome.
type turnState string

const (
	// turnIdle: no turn is active.
	turnIdle turnState = "idle"
	// turnPreparing: the next model request is prepared. The first one of a turn waits for the tools of servers and for
	// the search of memories.
	turnPreparing turnState = "preparing"
	// turnShell: only commands of the user run.
	turnShell turnState = "shell"
	// turnAwaitingShell: a model request waits for the end of the user's commands.
	turnAwaitingShell turnState = "awaitingShell"
	// turnRequesting: a model request is pending.
	turnRequesting turnState = "requesting"
	// turnRetrying: a timer runs until the next attempt of a model request.
	turnRetrying turnState = "retrying"
	// turnCompacting: the context is being compacted. No step ends in this state.
	turnCompacting turnState = "compacting"
	// turnSummarizing: the request for the summary of a compaction is pending.
	turnSummarizing turnState = "summarizing"
	// turnCalling: calls of the model's last answer run, wait for an answer of the client or for a checkpoint.
	turnCalling turnState = "calling"
	// turnEnding: the turn has an outcome, and effects that have not ended.
	turnEnding turnState = "ending"
	// turnDelayed: the turn has an outcome and no effects. turn/completed is delayed for slow clients.
	turnDelayed turnState = "delayed"
)

// next returns the states that can follow a state.
func (from turnState) next() []turnState {
	switch from {
	case turnIdle:
		return []turnState{turnPreparing, turnShell, turnCalling}
	case turnPreparing:
		return []turnState{turnRequesting, turnCompacting, turnEnding}
	case turnShell:
		return []turnState{turnAwaitingShell, turnEnding}
	case turnAwaitingShell:
		return []turnState{turnRequesting, turnCompacting, turnEnding}
	case turnRequesting:
		return []turnState{turnRequesting, turnRetrying, turnCompacting, turnCalling, turnEnding}
	case turnRetrying:
		return []turnState{turnRequesting, turnCompacting, turnSummarizing, turnEnding}
	case turnCompacting:
		return []turnState{turnSummarizing, turnPreparing, turnEnding}
	case turnSummarizing:
		return []turnState{turnSummarizing, turnRetrying, turnPreparing, turnCompacting, turnEnding}
	case turnCalling:
		return []turnState{turnRequesting, turnCompacting, turnEnding, turnIdle}
	case turnEnding:
		return []turnState{turnDelayed, turnPreparing, turnIdle}
	case turnDelayed:
		return []turnState{turnPreparing, turnIdle}
	}
	return nil
}

// turnTransition is a change of the state within a step.
type turnTransition struct{ from, to turnState }

// turnState returns the state of the active turn.
func (t *Thread) turnState() turnState {
	if t.active == nil {
		return turnIdle
	}
	return t.active.state
}

// isIdle reports whether no turn is active.
func (t *Thread) isIdle() bool { return t.active == nil }

// isEnding reports whether the active turn has an outcome.
func (t *Thread) isEnding() bool { return t.active != nil && t.active.outcome != nil }

// isInterrupted reports whether the active turn was interrupted and ends.
func (t *Thread) isInterrupted() bool {
	return t.isEnding() && t.active.outcome.status == protocol.TurnInterrupted
}

// isDelayed reports whether the active turn has ended and only turn/completed is delayed.
func (t *Thread) isDelayed() bool { return t.turnState() == turnDelayed }

// isRequesting reports whether a model request of the active turn is pending that is not for a summary.
func (t *Thread) isRequesting() bool { return t.turnState() == turnRequesting }

// activeCalls returns the calls of the model's last answer, or nil without a turn.
func (t *Thread) activeCalls() []*toolCall {
	if t.active == nil {
		return nil
	}
	return t.active.calls
}

// endModelEffect removes an effect of the active turn that ended. It returns false for an unknown effect.
func (s *step) endModelEffect(id EffectID) bool {
	return s.active != nil && removeEffect(&s.active.modelEffects, id)
}

// endToolEffect does the same as endModelEffect, for effects of calls and of the user's commands.
func (s *step) endToolEffect(id EffectID) bool {
	return s.active != nil && removeEffect(&s.active.toolEffects, id)
}

// enter changes the state of the turn. t is the turn of the new state, or nil for turnIdle.
func (s *step) enter(t *turn, to turnState) {
	from := s.turnState()
	if !slices.Contains(from.next(), to) {
		s.fail(fmt.Errorf("a turn in state %s cannot become %s", from, to))
	}
	s.out.transitions = append(s.out.transitions, turnTransition{from, to})
	if s.active = t; t != nil {
		t.state = to
	}
}

// fail notes that the state of the thread is wrong. The output of the step must not be used.
func (s *step) fail(err error) {
	if s.out.Fault == nil {
		s.out.Fault = err
	}
}

// becomePreparing begins a turn, or prepares the next model request of the active one: after a compaction, or after
// input before turn/completed.
func (s *step) becomePreparing(t *turn) {
	if s.isEnding() {
		s.stopDelay()
		t.outcome = nil
	}
	t.leaveModelWork()
	s.enter(t, turnPreparing)
}

// becomeShell begins a turn that runs commands of the user only.
func (s *step) becomeShell(t *turn) { s.enter(t, turnShell) }

// becomeRestored continues a turn that waited for an answer about one of the calls.
func (s *step) becomeRestored(t *turn) { s.enter(t, turnCalling) }

// becomeAwaitingShell makes the model request wait for the commands of the user.
func (s *step) becomeAwaitingShell() { s.enter(s.active, turnAwaitingShell) }

// becomeRequesting makes a model request the pending one. An earlier request is cancelled, or has ended. Its calls are
// done.
func (s *step) becomeRequesting(m *modelRequest) {
	s.active.leaveModelWork()
	s.active.request, s.active.calls = m, nil
	s.enter(s.active, turnRequesting)
}

// becomeRetrying makes the turn wait for the timer of the next attempt. A compaction continues after it.
func (s *step) becomeRetrying(timer EffectID) {
	compaction := s.active.compaction
	s.active.leaveModelWork()
	s.active.retry, s.active.compaction = timer, compaction
	s.enter(s.active, turnRetrying)
}

// becomeCompacting begins a compaction of the context.
func (s *step) becomeCompacting(c *runningCompaction) {
	s.active.leaveModelWork()
	s.active.compaction = c
	s.enter(s.active, turnCompacting)
}

// becomeSummarizing makes the request for the summary of the compaction the pending one.
func (s *step) becomeSummarizing(m *modelRequest) {
	compaction := s.active.compaction
	s.active.leaveModelWork()
	s.active.request, s.active.compaction = m, compaction
	s.enter(s.active, turnSummarizing)
}

// becomeCalling makes the calls of an answer wait for their start.
func (s *step) becomeCalling(calls []*toolCall) {
	s.active.leaveModelWork()
	s.active.calls = calls
	s.enter(s.active, turnCalling)
}

// becomeEnding sets the outcome of the turn.
func (s *step) becomeEnding(status protocol.TurnStatus, err *protocol.TurnError) {
	s.active.leaveModelWork()
	s.active.outcome = &outcome{status, err}
	s.enter(s.active, turnEnding)
}

// becomeDelayed delays turn/completed. The effects of the turn have ended.
func (s *step) becomeDelayed() { s.enter(s.active, turnDelayed) }

// becomeIdle removes the active turn: it is completed, or the next server continues it.
func (s *step) becomeIdle() { s.enter(nil, turnIdle) }

// dropTurn removes the turn of a thread whose lines were lost.
func (t *Thread) dropTurn() { t.active = nil }

// leaveModelWork clears the data of the states of a model request and of a compaction.
func (t *turn) leaveModelWork() { t.request, t.retry, t.compaction = nil, 0, nil }

// checkTurn checks the active turn at the end of a step: it has the data of its state and no other, and it waits for
// something, so that it does not hang.
func (s *step) checkTurn() {
	if t := s.active; t != nil && !t.isSound() {
		s.fail(fmt.Errorf("turn %s is %s, but has not the data of that state", t.id, t.state))
	}
}

// isSound reports whether a turn has the data of its state, and waits for something.
func (t *turn) isSound() bool {
	effects := len(t.modelEffects) + len(t.toolEffects)
	requests, summarizes := t.state == turnRequesting || t.state == turnSummarizing, t.state == turnSummarizing
	switch {
	case requests != (t.request != nil), (t.state == turnRetrying) != (t.retry != 0),
		summarizes && t.compaction == nil, t.compaction != nil && !summarizes && t.state != turnRetrying,
		(t.state == turnEnding || t.state == turnDelayed) != (t.outcome != nil),
		(t.state == turnDelayed) != (t.timer != 0):
		return false
	}
	switch t.state {
	case turnPreparing:
		return len(t.modelEffects) > 0
	case turnShell, turnAwaitingShell:
		return len(t.userCommands) > 0
	case turnRequesting, turnSummarizing:
		return slices.Contains(t.modelEffects, t.request.effect)
	case turnCalling:
		return t.awaitTools != 0 || slices.ContainsFunc(t.calls, func(c *toolCall) bool { return c.state != callDone })
	case turnEnding:
		return effects > 0
	case turnDelayed:
		return effects == 0
	}
	return t.state == turnRetrying
}
