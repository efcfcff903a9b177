package core

import (
	"fmt"

	"appserver/protocol"
)

// conclude says that the turn has nothing more to do. It is finished once its
// effects have ended and slow clients had their time.
func (s *step) conclude(status protocol.TurnStatus, err *protocol.TurnError) {
	s.active.outcome = &outcome{status, err}
	s.finishWhenDone()
}

func (s *step) finishWhenDone() {
	t := s.active
	if t == nil || t.outcome == nil || len(t.effects) > 0 {
		return
	}
	if wait := t.notBefore.Sub(s.Now); wait > 0 {
		if t.timer == 0 {
			t.timer = s.newEffect()
			s.effect(Timer{t.timer, wait})
		}
		return
	}
	s.finish()
}

func (s *step) timerFired(in TimerFired) {
	if s.active == nil || s.active.timer != in.Effect {
		return
	}
	s.active.timer = 0
	s.finishWhenDone()
}

// finish writes and tells the end of the turn. Nothing of the turn follows.
func (s *step) finish() {
	t := s.active
	s.completeOpenCalls()
	s.recordEnd(t)
	s.active = nil
	s.failed = t.outcome.status == protocol.TurnFailed
	s.out.Sync = true
	if s.usage.Last.TotalTokens > 0 {
		s.notifyUsage(t.id)
	}
	s.notifyStatus()
	if t.outcome.err != nil {
		s.notify(protocol.ErrorNotification{Error: *t.outcome.err, ThreadID: s.id, TurnID: t.id})
	}
	s.notify(protocol.TurnCompletedNotification{ThreadID: s.id, Turn: s.endedTurn(t)})
	s.takeWaiting()
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
		s.item(userText(abortedText))
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
	if err := t.outcome.err; err != nil {
		end.Error = &protocol.StoredError{Message: err.Message}
		if err.CodexErrorInfo != nil {
			end.Error.CodexErrorInfo = err.CodexErrorInfo.Stored()
		}
	}
	s.event(end)
}

// abortedText tells the model that the turn before was not finished.
const abortedText = "<turn_aborted>\nThe user interrupted the previous turn. Commands that were running were ended; they may have taken effect in part.\n</turn_aborted>"

// takeWaiting begins the turn that a client asked for while the last one was
// ending; further inputs join it.
func (s *step) takeWaiting() {
	waiting := s.waiting
	s.waiting = nil
	for _, in := range waiting {
		s.turnStart(in)
	}
}

// closeOpenTurn ends a turn that a crash cut off.
func (s *step) closeOpenTurn() {
	last := s.lastTurn()
	if last == nil || last.status != protocol.TurnInProgress || s.active != nil {
		return
	}
	s.completeOpenCalls()
	s.item(userText(abortedText))
	s.event(protocol.TurnAborted{Type: protocol.EventTurnAborted, TurnID: last.id, Reason: "interrupted", StartedAt: last.startedAt})
	s.out.Sync = true
}

// storageFailed ends the turn that the lost lines belonged to, as far as the
// client is told; the lines that say so are owed until the disk takes them.
func (s *step) storageFailed(in StorageFailed) {
	last := s.lastTurn()
	if last == nil || last.status != protocol.TurnInProgress {
		return
	}
	err := protocol.TurnError{
		Message:        fmt.Sprintf("the conversation could not be saved: %v", in.Err),
		CodexErrorInfo: &protocol.CodexErrorInfo{Kind: protocol.ErrorOther},
	}
	last.status, last.err = protocol.TurnFailed, &err
	s.failed = true
	for _, id := range s.openCalls() {
		s.owed = append(s.owed, owedLine{protocol.LineResponseItem, protocol.ResponseItem{ResponseItemVariant: abortedOutput(id)}})
	}
	s.owed = append(s.owed, owedLine{protocol.LineEventMsg, protocol.TaskComplete{
		Type: protocol.EventTaskComplete, TurnID: last.id, StartedAt: last.startedAt, Error: &protocol.StoredError{Message: err.Message}}})
	for _, id := range in.Requests {
		s.notify(protocol.ServerRequestResolvedNotification{ThreadID: s.id, RequestID: id})
	}
	s.notifyStatus()
	s.notify(protocol.ErrorNotification{Error: err, ThreadID: s.id, TurnID: last.id})
	s.notify(protocol.TurnCompletedNotification{ThreadID: s.id, Turn: last.head()})
}
