package state

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"appserver/core/pure/history"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// reverted is a revert that can be undone: no turn and no item came after it.
type reverted struct {
	// ordinal is the one of the line of the revert.
	ordinal    int64
	usage      protocol.ThreadTokenUsage
	context    history.Reverted
	transcript transcript.Reverted
}

// forgetReverts makes the reverts final before a line that adds to the turns or to the context. Their undo would
// put the removed turns before what the line adds.
func (s *State) forgetReverts(line *protocol.RolloutLine) {
	if len(s.reverts) == 0 {
		return
	}
	switch line.Type {
	case protocol.LineResponseItem, protocol.LineCompacted:
		s.reverts = nil
	case protocol.LineEventMsg:
		switch peek(line.Payload, "type") {
		case protocol.EventRolledBack, protocol.EventSettings, protocol.EventNameUpdated:
		case protocol.EventTokenCount:
			if gjson.GetBytes(line.Payload, "info").IsObject() { // the usage after an undo would not be the sum of both
				s.reverts = nil
			}
		default:
			s.reverts = nil
		}
	}
}

// FirstRevertedTurn returns the id of the first turn that the undo of the last revert brings back.
func (s *State) FirstRevertedTurn() string { return s.reverts[len(s.reverts)-1].transcript.First() }

// UndoableRevert returns the ordinal of the revert that can be undone now. later is set if there is one, but edits of
// the context after it have to be undone first.
func (s *State) UndoableRevert() (ordinal int64, found, later bool) {
	if len(s.reverts) == 0 {
		return 0, false, false
	}
	last := &s.reverts[len(s.reverts)-1]
	if !s.Context.CanUndoRevert(&last.context) {
		return 0, false, true
	}
	return last.ordinal, true, false
}

// applyUndoOfRevert applies a context_edit line if it undoes the last revert. The history has counted its revision.
func (s *State) applyUndoOfRevert(payload json.RawMessage) {
	ordinal, found, _ := s.UndoableRevert()
	var e protocol.StoredContextEdit
	if !found || protocol.Unmarshal(payload, &e) != nil || e.Op != protocol.EditUndo || e.Target != ordinal {
		return
	}
	last := len(s.reverts) - 1
	r := s.reverts[last]
	s.reverts = s.reverts[:last]
	s.Context.UndoRevert(&r.context)
	s.Transcript.UndoRevert(&r.transcript)
	s.Usage.Total, s.Usage.Last = r.usage.Total, r.usage.Last
}
