package core

import (
	"strings"

	"appserver/core/pure/history"
	"appserver/protocol"
)

const (
	// interruptedText is added to the context after an interrupt.
	interruptedText = history.AbortedTag + "\nThe user interrupted the previous turn. " + abortedTextEnd
	// cutOffText is added after a turn without an end: the server was killed, or a fork begins within the turn.
	cutOffText     = history.AbortedTag + "\nThe previous turn was cut off. " + abortedTextEnd
	abortedTextEnd = "Running commands were ended and may have partially executed. " +
		"Verify the current state before retrying.\n</turn_aborted>"
)

func storedError(err *protocol.TurnError) *protocol.StoredError {
	stored := &protocol.StoredError{Message: err.Message}
	if err.CodexErrorInfo != nil {
		stored.CodexErrorInfo = err.CodexErrorInfo.Stored()
	}
	return stored
}

// CloseInterrupted records the end of a turn that a dead server left under way. A turn that waits for an
// answer only ends if Resumable is set.
type CloseInterrupted struct{ Resumable bool }

func (in CloseInterrupted) apply(s *step) {
	if in.Resumable {
		s.endDanglingTurn()
		return
	}
	s.closeDanglingTurn()
}

// closeDanglingTurn records the end of a turn without one: after a crash, or after a failed append.
// It precedes the first line outside of a turn. A resumable turn continues later.
func (s *step) closeDanglingTurn() {
	if s.resumable() == nil {
		s.endDanglingTurn()
	}
}

// endDanglingTurn does the same as closeDanglingTurn, and also ends resumable turns.
func (s *step) endDanglingTurn() {
	last := s.transcript.Last()
	if last == nil || last.Status != protocol.TurnInProgress || !s.isIdle() {
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
		s.item(history.UserMessage(cutOffText))
	}
	s.event(protocol.TurnAborted{
		Type:      protocol.EventTurnAborted,
		TurnID:    last.ID,
		Reason:    "interrupted",
		StartedAt: last.StartedAt,
	})
}

// completeOpenCalls records an output for each call that has none. Providers reject a call without
// output.
func (s *step) completeOpenCalls() {
	for _, call := range s.state.OpenCalls() {
		if held := s.pendingOutput(s.context.Item(call).CallID()); held != nil {
			s.item(held)
			continue
		}
		s.item(s.context.Item(call).Answer(abortedOutputText).ResponseItemVariant)
	}
}

func (s *step) recordEnd(t *turn) {
	started, now := t.startedAt.Unix(), s.Now.Unix()
	duration := s.Now.Sub(t.startedAt).Milliseconds()
	if t.outcome.status == protocol.TurnInterrupted {
		if t.kind.takesInput() && !s.capabilities.Limits.NoAbortedNote { // the model knows of no turns of other kinds
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

// abortedNote returns interruptedText, and mentions commands in the background.
func (s *step) abortedNote() string {
	if !s.HasTerminals() {
		return interruptedText
	}
	return strings.Replace(interruptedText, "\n</", " Commands in the background continue.\n</", 1)
}
