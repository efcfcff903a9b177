package core

import (
	"appserver/core/pure/history"
	"appserver/protocol"
)

// UndoRevert brings back the turns that the last revert removed. Expected is the first of them, or nil for any.
type UndoRevert struct {
	To       protocol.Caller
	Expected *string
}

func (in UndoRevert) apply(s *step) { s.undoRevert(in) }

// undoRevert records the undo of a context edit. Versions that do not know the undo of a revert skip that line.
func (s *step) undoRevert(in UndoRevert) {
	if s.rejectInTurn(in.To) {
		return
	}
	target, err := s.undoableRevert(in.Expected)
	if err != nil {
		s.reject(in.To, err)
		return
	}
	e, turns := s.context.EditAt(target), s.transcript.TurnCount()
	c := s.beginTrim()
	s.record(protocol.LineContextEdit,
		protocol.StoredContextEdit{Op: protocol.EditUndo, Revision: s.context.Revision() + 1, Target: target})
	s.out.Sync = true
	s.endTrim(c, nil)
	answer := protocol.ThreadRevertUndoResponse{Thread: s.View(false),
		RestoredTurnIDs: s.lastTurnIDs(s.transcript.TurnCount() - turns)}
	answer.TurnsBackwardsCursor, answer.ItemsBackwardsCursor = s.lists().LastCursors()
	s.reply(in.To, answer)
	s.notifyReverted(c, history.Reversed(e.Changes()))
}

// undoableRevert returns the ordinal of the revert to undo.
func (s *step) undoableRevert(expected *string) (int64, *protocol.Error) {
	target, found, later := s.state.UndoableRevert()
	switch {
	case later:
		return 0, protocol.Refuse(protocol.KindNothingToUndo,
			"the context was edited after the revert: undo these edits with context/undo, and retry")
	case !found:
		return 0, protocol.Refuse(protocol.KindNothingToUndo,
			"there is no revert to undo: a revert can be undone until the next turn begins or an item joins the context")
	}
	if first := s.state.FirstRevertedTurn(); expected != nil && *expected != first {
		err := protocol.Refuse(protocol.KindStaleTurn, "the last revert removed turn %q and later ones, not %q: "+
			"read the turns again, and repeat the request if it still makes sense", first, *expected)
		err.Data.TurnID = first
		return 0, err
	}
	return target, nil
}
