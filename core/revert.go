package core

import (
	"appserver/core/history"
	"appserver/protocol"
)

// Revert takes turns out of the thread: the turn Before and all later ones or, if Before is nil, the
// last Last turns.
type Revert struct {
	To     protocol.Caller
	Before *string
	Last   uint32
}

func (in Revert) apply(s *step) { s.revert(in) }

func (s *step) revert(in Revert) {
	if s.rejectInTurn(in.To) {
		return
	}
	n, err := s.turnsToRevert(in)
	if err != nil {
		s.reject(in.To, err)
		return
	}
	c := s.recordRevert(n)
	s.replyToRevert(in)
	s.notifyReverted(c)
}

// recordRevert takes the last turns out. notifyReverted notifies clients afterwards.
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

func (s *step) notifyReverted(c *trimChange) {
	if s.failed {
		s.failed = false
		s.notifyStatus()
	}
	s.notify(protocol.ThreadRevertedNotification{ThreadID: s.state.ID})
	s.notifyTrim(c)
	s.discards = true
	s.contextChanged(s.lastRevert())
}

func (s *step) turnsToRevert(in Revert) (uint32, *protocol.Error) {
	if in.Before == nil {
		return uint32(min(int(in.Last), s.transcript.TurnCount())), nil
	}
	turn, err := s.findTurn(*in.Before)
	return uint32(s.transcript.TurnCount() - turn), err
}

func (s *step) replyToRevert(in Revert) {
	if in.Before == nil {
		s.reply(in.To, protocol.ThreadRollbackResponse{Thread: s.responseView(true)})
		return
	}
	answer := protocol.ThreadRevertResponse{Thread: s.View(false)}
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
