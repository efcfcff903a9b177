package core

import (
	"fmt"
	"strings"
	"time"

	"appserver/core/history"
	"appserver/protocol"
)

// finishTurn says that the turn has nothing more to do. It is finished once its
// effects have ended and slow clients had their time.
func (s *step) finishTurn(status protocol.TurnStatus, err *protocol.TurnError) {
	s.active.outcome = &outcome{status, err}
	s.completeWhenIdle()
}

func (s *step) completeWhenIdle() {
	t := s.active
	if t == nil || t.outcome == nil || len(t.modelEffects)+len(t.toolEffects) > 0 {
		return
	}
	if wait := t.notBefore.Sub(s.Now); wait > 0 && len(s.waiting) == 0 {
		if t.timer == 0 {
			t.timer = s.newEffect()
			s.effect(Timer{ID: t.timer, Delay: wait})
		}
		return
	}
	s.stopTimer() // of an end that a command of the user's own came before
	s.completeTurn()
}

// completionPending reports whether the turn has ended and only its turn/completed is delayed.
func (t *turn) completionPending() bool {
	return t != nil && t.outcome != nil && len(t.modelEffects)+len(t.toolEffects) == 0
}

// completePendingTurn completes a turn whose turn/completed is held back. A request that needs the
// turn to be over calls it first.
func (s *step) completePendingTurn() {
	if s.active.completionPending() {
		s.endTurn()
	}
}

// endTurn interrupts the turn under way. Its turn/completed is not held back.
func (s *step) endTurn() {
	if s.active == nil {
		return
	}
	s.active.notBefore = time.Time{}
	s.stopTimer()
	s.interrupt()
	s.completeWhenIdle()
}

func (s *step) timerFired(in TimerFired) {
	switch t := s.active; {
	case t == nil, in.Effect == 0:
	case t.timer == in.Effect:
		t.timer = 0
		s.completeWhenIdle()
	case t.retry == in.Effect:
		t.retry = 0
		s.requestModel()
	default:
		s.waitTimerFired(in.Effect)
	}
}

// completeTurn writes and tells the end of the turn. Nothing of the turn follows.
func (s *step) completeTurn() {
	t := s.active
	s.endReview()
	s.completeOpenCalls()
	s.recordEnd(t)
	s.active = nil
	s.failed = t.outcome.status == protocol.TurnFailed
	s.out.Sync = true
	if t.hasUsage {
		s.notifyUsage(t.id)
	}
	s.notifyStatus()
	if t.outcome.err != nil {
		s.notify(protocol.ErrorNotification{Error: *t.outcome.err, ThreadID: s.id, TurnID: t.id})
	}
	s.notify(protocol.TurnCompletedNotification{ThreadID: s.id, Turn: s.endedTurn(t), Metadata: t.metadata()})
	s.contextChanged(nil)
	s.announce(t)
	s.startWaiting()
}

// endedTurn is the turn as turn/completed shows it: with the agent's last message
// only.
func (s *step) endedTurn(t *turn) protocol.Turn {
	v := s.lastTurn().head()
	v.Error = t.outcome.err
	if t.last != nil && t.outcome.status == protocol.TurnCompleted {
		v.Items, v.ItemsView = []protocol.ThreadItem{*t.last}, protocol.ItemsSummary
	}
	return v
}

func (s *step) recordEnd(t *turn) {
	started, now := t.startedAt.Unix(), s.Now.Unix()
	duration := s.Now.Sub(t.startedAt).Milliseconds()
	if t.outcome.status == protocol.TurnInterrupted {
		if t.kind() == "" { // of others the model does not hear, or has heard
			s.item(history.UserMessage(s.abortedNote()))
		}
		s.event(protocol.TurnAborted{Type: protocol.EventTurnAborted, TurnID: t.id, Reason: "interrupted",
			StartedAt: &started, CompletedAt: &now, DurationMs: &duration})
		return
	}
	end := protocol.TaskComplete{Type: protocol.EventTaskComplete, TurnID: t.id,
		StartedAt: &started, CompletedAt: &now, DurationMs: &duration}
	if t.last != nil {
		if m, ok := t.last.ThreadItemVariant.(*protocol.AgentMessageItem); ok {
			end.LastAgentMessage = &m.Text
		}
	}
	if t.outcome.err != nil {
		end.Error = storedError(t.outcome.err)
	}
	s.event(end)
}

// history.AbortedTag begins abortedText.

// abortedText tells the model that the turn before was not finished.
const abortedText = history.AbortedTag + "\nThe user interrupted the previous turn. Commands that were running were ended; they may have taken effect in part.\n</turn_aborted>"

// abortedNote is abortedText, with what goes on.
func (s *step) abortedNote() string {
	if !s.HasTerminals() {
		return abortedText
	}
	return strings.Replace(abortedText, "\n</", " Commands in the background go on.\n</", 1)
}

// startWaiting begins the turn that a client asked for while the last one was
// ending; further inputs join it.
func (s *step) startWaiting() {
	waiting := s.waiting
	s.waiting = nil
	for _, in := range waiting {
		in.in.apply(s)
	}
}

// closeDanglingTurn writes the end of a turn that no line ends: of one that a crash cut
// off, or of one that failed because the disk took no lines. It comes before the
// first line outside of a turn.
func (s *step) closeDanglingTurn() {
	last := s.lastTurn()
	if last == nil || last.status != protocol.TurnInProgress || s.active != nil {
		return
	}
	s.completeOpenCalls()
	s.out.Sync = true
	if s.announcedEnd != nil && s.announcedEnd.turnID == last.id {
		s.event(protocol.TaskComplete{Type: protocol.EventTaskComplete, TurnID: last.id, StartedAt: last.startedAt, Error: storedError(&s.announcedEnd.err)})
		return
	}
	if s.context.HasTurn(last.id) { // the model heard of it
		s.item(history.UserMessage(abortedText))
	}
	s.event(protocol.TurnAborted{Type: protocol.EventTurnAborted, TurnID: last.id, Reason: "interrupted", StartedAt: last.startedAt})
}

// storageFailed tells that the turn which the lost lines belonged to has failed.
func (s *step) storageFailed(in StorageFailed) {
	s.settings, s.active, s.waiting = in.Settings, nil, nil
	s.failed = in.Turn != "" || s.lastTurnFailed()
	for _, id := range in.Requests {
		s.notify(protocol.ServerRequestResolvedNotification{ThreadID: s.id, RequestID: id})
	}
	for _, q := range s.questions {
		s.answerServer(q.Question, protocol.ElicitCancel)
	}
	s.questions = nil
	if in.Turn == "" {
		s.notifyStatus()
		return
	}
	s.announcedEnd = &announcedFailure{in.Turn, protocol.TurnError{
		Message:        fmt.Sprintf("the conversation could not be saved: %v", in.Err),
		CodexErrorInfo: &protocol.CodexErrorInfo{Kind: protocol.ErrorOther},
	}}
	s.notifyStatus()
	s.notify(protocol.ErrorNotification{Error: s.announcedEnd.err, ThreadID: s.id, TurnID: in.Turn})
	ended := (&turnRecord{id: in.Turn, root: in.Turn}).head()
	if i, ok := s.turnAt[in.Turn]; ok {
		ended = s.turns[i].head()
	}
	ended.Status, ended.Error = protocol.TurnFailed, &s.announcedEnd.err
	s.notify(protocol.TurnCompletedNotification{ThreadID: s.id, Turn: ended})
}

// lastTurnFailed tells whether the last turn is one that clients know to have failed.
func (s *step) lastTurnFailed() bool {
	last := s.lastTurn()
	return last != nil && (last.status == protocol.TurnFailed || s.announcedEnd != nil && s.announcedEnd.turnID == last.id)
}

func storedError(err *protocol.TurnError) *protocol.StoredError {
	stored := &protocol.StoredError{Message: err.Message}
	if err.CodexErrorInfo != nil {
		stored.CodexErrorInfo = err.CodexErrorInfo.Stored()
	}
	return stored
}
