package state

import (
	"encoding/json"
	"strings"

	"appserver/protocol"
)

// applyWait applies a turn_waiting line.
func (s *State) applyWait(payload json.RawMessage) {
	var wait protocol.StoredWait
	if protocol.Unmarshal(payload, &wait) != nil {
		return
	}
	s.Waiting = nil
	if wait.CallID != "" {
		s.Waiting = &wait
	}
}

// endWait applies the output of a call. It ends the wait for an answer about this call.
func (s *State) endWait(payload json.RawMessage) {
	if s.Waiting != nil && strings.HasSuffix(peek(payload, "type"), "_output") &&
		peek(payload, "call_id") == s.Waiting.CallID {
		s.Waiting = nil
	}
}

// Resumable returns the wait of the last turn, or nil if the turn has ended or waits for other things than an
// answer. The call of the wait is the first one without an output.
func (s *State) Resumable() *protocol.StoredWait {
	if s.Waiting == nil {
		return nil
	}
	last := s.Transcript.Last()
	if last == nil || last.ID != s.Waiting.TurnID || last.Status != protocol.TurnInProgress {
		return nil
	}
	open := s.OpenCalls()
	if len(open) == 0 || s.Context.Item(open[0]).CallID() != s.Waiting.CallID {
		return nil
	}
	return s.Waiting
}
