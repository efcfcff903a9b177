package core

import (
	"slices"
	"time"

	"appserver/protocol"
)

// TurnInterrupt interrupts the active turn.
type TurnInterrupt struct {
	To     protocol.Caller
	TurnID string
}

func (in TurnInterrupt) apply(s *step) { s.turnInterrupt(in) }

// EndTurn interrupts the active turn before the thread is archived, deleted or replaced. A finished
// turn keeps its outcome. turn/completed is not delayed.
type EndTurn struct{}

func (EndTurn) apply(s *step) { s.endTurn() }

// ReleaseTurn completes a finished turn whose turn/completed is delayed.
type ReleaseTurn struct{}

func (ReleaseTurn) apply(s *step) { s.completePendingTurn() }

// Shutdown ends the active turn, unless it waits for an answer only. There is no response.
type Shutdown struct{}

func (Shutdown) apply(s *step) { s.shutdown() }

func (s *step) turnInterrupt(in TurnInterrupt) {
	wait := s.resumable()
	switch {
	case wait != nil && (in.TurnID == "" || in.TurnID == wait.TurnID):
		s.interruptResumable(in.To)
	case s.isIdle():
		s.reject(in.To, protocol.Refuse(protocol.KindNoActiveTurn, "no active turn to interrupt"))
	case in.TurnID != "" && in.TurnID != s.active.id:
		s.reject(in.To, s.errWrongTurn("expected active turn id %s but found %s", in.TurnID))
	default:
		s.reply(in.To, protocol.Empty{})
		s.active.notBefore = later(s.active.notBefore, s.Now.Add(s.options.CompletedFloor))
		s.interrupt()
	}
}

// interruptResumable ends a turn that could not continue here.
func (s *step) interruptResumable(to protocol.Caller) {
	s.endDanglingTurn()
	s.reply(to, protocol.Empty{})
	s.notifyStatus()
	s.notify(protocol.TurnCompletedNotification{ThreadID: s.state.ID, Turn: s.transcript.Last().View()})
	s.contextChanged(nil)
}

func (s *step) errWrongTurn(format, expected string) *protocol.Error {
	err := protocol.Refuse(protocol.KindTurnMismatch, format, expected, s.active.id)
	err.Data.TurnID = s.active.id
	return err
}

// interrupt cancels all work of the turn. The turn ends with its last effect. A turn that has
// finished keeps its outcome; only the commands of the user that it waits for end.
func (s *step) interrupt() {
	t := s.active
	if s.isEnding() {
		s.cancelUserCommands()
		return
	}
	for _, id := range slices.Concat(t.modelEffects, t.toolEffects) {
		s.effect(Cancel{id})
	}
	if t.retry != 0 {
		s.effect(Cancel{t.retry})
	}
	s.cancelWaits()
	s.abortMailCalls()
	s.cancelQuestions()
	asking := s.awaitsApproval() || t.asks(protocol.FlagWaitingOnUserInput)
	for _, c := range t.calls {
		s.abortCall(c)
	}
	if asking {
		s.notifyStatus()
	}
	if t.compaction != nil {
		s.endCompaction()
	}
	s.finishTurn(protocol.TurnInterrupted, nil)
}

// endTurn interrupts the active turn and does not delay turn/completed.
func (s *step) endTurn() {
	if s.isIdle() {
		return
	}
	s.active.notBefore = time.Time{}
	s.stopDelay()
	s.interrupt()
	s.completeOnceEnded()
}

// completePendingTurn completes a turn whose turn/completed is delayed. Requests call it first if
// they need the turn to be over.
func (s *step) completePendingTurn() {
	if s.isDelayed() {
		s.endTurn()
	}
}

func (s *step) shutdown() {
	closing := protocol.Refuse(protocol.KindShuttingDown, "the server is shutting down")
	s.discardDraft(closing)
	for _, w := range s.waiting {
		s.reject(w.to, closing)
	}
	s.waiting = nil
	s.cancelCaptures()
	s.endTerminals()
	if s.isIdle() && s.announcedEnd != nil {
		s.closeDanglingTurn()
	}
	if len(s.waitingEdits) == 0 { // they are applied at the end of the turn
		s.leave()
	}
	s.endTurn()
}

// leave withdraws the request of a turn that waits for an answer only, and removes the turn without ending
// it. The thread is unloaded then. The next server that loads it continues the turn.
func (s *step) leave() {
	if s.solelyAsking() == nil {
		return
	}
	for _, id := range slices.Concat(s.active.modelEffects, s.active.toolEffects) {
		s.effect(Cancel{id})
	}
	for _, id := range s.OpenRequests() {
		s.notify(protocol.ServerRequestResolvedNotification{ThreadID: s.state.ID, RequestID: id})
	}
	s.becomeIdle()
}
