package core

import (
	"appserver/protocol"
)

// finishTurn sets the outcome of the turn. It completes once its effects have ended and the delay
// of turn/completed is over.
func (s *step) finishTurn(status protocol.TurnStatus, err *protocol.TurnError) {
	s.becomeEnding(status, err)
	s.completeOnceEnded()
}

// completeOnceEnded completes a turn that has an outcome, if its effects have ended and the delay is over. Each handler
// of the end of an effect calls it, directly or by effectOfCallEnded.
func (s *step) completeOnceEnded() {
	t := s.active
	if !s.isEnding() || len(t.modelEffects)+len(t.toolEffects) > 0 {
		return
	}
	if wait := t.notBefore.Sub(s.Now); wait > 0 && len(s.waiting) == 0 {
		if !s.isDelayed() {
			s.becomeDelayed()
		}
		if t.timer == 0 {
			t.timer = s.newEffect()
			s.effect(Timer{ID: t.timer, Delay: wait})
		}
		return
	}
	s.stopDelay() // the timer of an earlier end
	s.completeTurn()
}

// completeTurn records and sends the end of the turn.
func (s *step) completeTurn() {
	t := s.active
	s.endReview()
	s.completeOpenCalls()
	s.addAgentNotices()
	s.addMails()
	s.recordCancelled()
	s.recordEnd(t)
	s.becomeIdle()
	s.failed = t.outcome.status == protocol.TurnFailed
	s.out.Sync = true
	if t.hasUsage {
		s.notifyUsage(t.id)
	}
	s.notifyStatus()
	if t.outcome.err != nil {
		s.notify(protocol.ErrorNotification{Error: *t.outcome.err, ThreadID: s.state.ID, TurnID: t.id})
	}
	s.notify(protocol.TurnCompletedNotification{ThreadID: s.state.ID, Turn: s.endedTurn(t), Metadata: t.metadata()})
	s.contextChanged(nil)
	s.notifySuggestions(t)
	s.announce(t)
	s.startWaiting()
}

// endedTurn returns the turn for turn/completed. Its items are only the last message of the agent.
func (s *step) endedTurn(t *turn) protocol.Turn {
	v := s.transcript.Last().View()
	v.Error = t.outcome.err
	if t.last != nil && t.outcome.status == protocol.TurnCompleted {
		v.Items, v.ItemsView = []protocol.ThreadItem{*t.last}, protocol.ItemsSummary
	}
	return v
}

// startWaiting applies the inputs that waited for the end of the turn. Edits come first, because other
// inputs may start the next turn.
func (s *step) startWaiting() {
	edits := s.waitingEdits
	s.waitingEdits = nil
	for _, in := range edits {
		in.apply(s)
	}
	waiting := s.waiting
	s.waiting = nil
	for _, in := range waiting {
		in.in.apply(s)
	}
}

// lastTurnFailed reports whether clients know the last turn as failed.
func (s *step) lastTurnFailed() bool {
	last := s.transcript.Last()
	return last != nil && (last.Status == protocol.TurnFailed || s.announcedEnd != nil && s.announcedEnd.turnID == last.ID)
}
