package core

import (
	"appserver/core/pure/history"
	"appserver/protocol"
)

// Revert takes turns out of the thread: the turn Before and all later ones or, if Before is nil, the
// last Last turns. ExpectedLast is the last turn that the thread must have, or nil for any.
type Revert struct {
	To           protocol.Caller
	Before       *string
	Last         uint32
	ExpectedLast *string
}

func (in Revert) apply(s *step) { s.revert(in) }

func (s *step) revert(in Revert) {
	if s.rejectInTurn(in.To) {
		return
	}
	if err := s.errStaleTurn(in.ExpectedLast); err != nil {
		s.reject(in.To, err)
		return
	}
	n, err := s.turnsToRevert(in)
	if err != nil {
		s.reject(in.To, err)
		return
	}
	removed := s.lastTurnIDs(int(n))
	c := s.recordRevert(n)
	s.replyToRevert(in, removed)
	s.notifyReverted(c, s.lastRevert())
}

// errStaleTurn returns the error for a request that expects another last turn, or nil.
func (t *Thread) errStaleTurn(expected *string) *protocol.Error {
	last := t.state.CurrentTurn()
	if expected == nil || *expected == last {
		return nil
	}
	err := protocol.Refuse(protocol.KindStaleTurn, "the last turn of the thread is %q, not %q, and nothing was changed: "+
		"read the turns again, and repeat the request if it still makes sense", last, *expected)
	err.Data.TurnID = last
	return err
}

// lastTurnIDs returns the ids of the last n turns, in order.
func (t *Thread) lastTurnIDs(n int) []string {
	ids := make([]string, 0, n)
	for i := t.transcript.TurnCount() - n; i < t.transcript.TurnCount(); i++ {
		ids = append(ids, t.transcript.TurnID(i))
	}
	return ids
}

// recordRevert removes the last turns. notifyReverted notifies clients afterwards.
func (s *step) recordRevert(n uint32) *trimChange {
	s.closeDanglingTurn()
	c := s.beginTrim()
	if n > 0 {
		s.event(protocol.ThreadRolledBack{Type: protocol.EventRolledBack, NumTurns: n, Revision: s.context.Revision() + 1})
		s.out.Sync = true
	}
	s.endTrim(c, nil)
	return c
}

// notifyReverted notifies clients of a revert or of its undo, with the changes of the context.
func (s *step) notifyReverted(c *trimChange, changes []history.Change) {
	if s.failed {
		s.failed = false
		s.notifyStatus()
	}
	s.notify(protocol.ThreadRevertedNotification{ThreadID: s.state.ID})
	s.notifyTrim(c)
	s.discards = true
	s.contextChanged(changes)
}

func (s *step) turnsToRevert(in Revert) (uint32, *protocol.Error) {
	if in.Before == nil {
		return uint32(min(int(in.Last), s.transcript.TurnCount())), nil
	}
	turn, err := s.findTurn(*in.Before)
	return uint32(s.transcript.TurnCount() - turn), err
}

func (s *step) replyToRevert(in Revert, removed []string) {
	if in.Before == nil {
		s.reply(in.To, protocol.ThreadRollbackResponse{Thread: s.responseView(true)})
		return
	}
	answer := protocol.ThreadRevertResponse{Thread: s.View(false), RemovedTurnIDs: removed}
	answer.TurnsBackwardsCursor, answer.ItemsBackwardsCursor = s.lists().LastCursors()
	s.reply(in.To, answer)
}

// lastRevert returns the changes of the last edit if it is a revert.
func (s *step) lastRevert() []history.Change {
	if last := s.context.LastEdit(); last != nil && last.IsRevert() {
		return last.Changes()
	}
	return nil
}
