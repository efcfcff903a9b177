package core

import (
	"fmt"
	"strings"
	"time"

	"appserver/core/history"
	"appserver/core/transcript"
	"appserver/protocol"
)

func (EndTurn) apply(s *step)          { s.endTurn() }
func (ReleaseTurn) apply(s *step)      { s.completePendingTurn() }
func (in StorageFailed) apply(s *step) { s.storageFailed(in) }
func (in TimerFired) apply(s *step)    { s.timerFired(in) }

// finishTurn sets the outcome of the turn. It completes once its effects have ended and the delay
// of turn/completed is over.
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
	s.stopTimer() // the timer of an earlier end
	s.completeTurn()
}

// completionPending reports whether the turn is finished and only turn/completed is delayed.
func (t *turn) completionPending() bool {
	return t != nil && t.outcome != nil && len(t.modelEffects)+len(t.toolEffects) == 0
}

// completePendingTurn completes a turn whose turn/completed is delayed. Requests call it first if
// they need the turn to be over.
func (s *step) completePendingTurn() {
	if s.active.completionPending() {
		s.endTurn()
	}
}

// endTurn interrupts the active turn and does not delay turn/completed.
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

// completeTurn records and sends the end of the turn.
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
		s.notify(protocol.ErrorNotification{Error: *t.outcome.err, ThreadID: s.state.ID, TurnID: t.id})
	}
	s.notify(protocol.TurnCompletedNotification{ThreadID: s.state.ID, Turn: s.endedTurn(t), Metadata: t.metadata()})
	s.contextChanged(nil)
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

func (s *step) recordEnd(t *turn) {
	started, now := t.startedAt.Unix(), s.Now.Unix()
	duration := s.Now.Sub(t.startedAt).Milliseconds()
	if t.outcome.status == protocol.TurnInterrupted {
		if t.kind() == "" { // the model does not know of turns of other kinds
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

// abortedText is added to the context after an interrupt.
const abortedText = history.AbortedTag + "\nThe user interrupted the previous turn. " +
	"Running commands were ended and may have partially executed. " +
	"Verify the current state before retrying.\n</turn_aborted>"

// abortedNote returns abortedText, and mentions commands in the background.
func (s *step) abortedNote() string {
	if !s.HasTerminals() {
		return abortedText
	}
	return strings.Replace(abortedText, "\n</", " Commands in the background continue.\n</", 1)
}

// startWaiting applies the inputs that waited for the end of the turn.
func (s *step) startWaiting() {
	waiting := s.waiting
	s.waiting = nil
	for _, in := range waiting {
		in.in.apply(s)
	}
}

// closeDanglingTurn records the end of a turn without one: after a crash, or after a failed append.
// It precedes the first line outside of a turn.
func (s *step) closeDanglingTurn() {
	last := s.transcript.Last()
	if last == nil || last.Status != protocol.TurnInProgress || s.active != nil {
		return
	}
	s.completeOpenCalls()
	s.out.Sync = true
	if s.announcedEnd != nil && s.announcedEnd.turnID == last.ID {
		s.event(protocol.TaskComplete{
			Type:      protocol.EventTaskComplete,
			TurnID:    last.ID,
			StartedAt: last.StartedAt,
			Error:     storedError(&s.announcedEnd.err),
		})
		return
	}
	if s.context.HasTurn(last.ID) { // the model knows the turn
		s.item(history.UserMessage(abortedText))
	}
	s.event(protocol.TurnAborted{
		Type:      protocol.EventTurnAborted,
		TurnID:    last.ID,
		Reason:    "interrupted",
		StartedAt: last.StartedAt,
	})
}

// storageFailed fails the turn whose lines were lost.
func (s *step) storageFailed(in StorageFailed) {
	s.state.Settings, s.active, s.waiting = in.Settings, nil, nil
	s.failed = in.Turn != "" || s.lastTurnFailed()
	for _, id := range in.Requests {
		s.notify(protocol.ServerRequestResolvedNotification{ThreadID: s.state.ID, RequestID: id})
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
	s.notify(protocol.ErrorNotification{Error: s.announcedEnd.err, ThreadID: s.state.ID, TurnID: in.Turn})
	ended := (&transcript.Turn{ID: in.Turn, Root: in.Turn}).View()
	if i, ok := s.transcript.IndexOf(in.Turn); ok {
		ended = s.transcript.Turn(i).View()
	}
	ended.Status, ended.Error = protocol.TurnFailed, &s.announcedEnd.err
	s.notify(protocol.TurnCompletedNotification{ThreadID: s.state.ID, Turn: ended})
}

// lastTurnFailed reports whether clients know the last turn as failed.
func (s *step) lastTurnFailed() bool {
	last := s.transcript.Last()
	return last != nil && (last.Status == protocol.TurnFailed || s.announcedEnd != nil && s.announcedEnd.turnID == last.ID)
}

func storedError(err *protocol.TurnError) *protocol.StoredError {
	stored := &protocol.StoredError{Message: err.Message}
	if err.CodexErrorInfo != nil {
		stored.CodexErrorInfo = err.CodexErrorInfo.Stored()
	}
	return stored
}
