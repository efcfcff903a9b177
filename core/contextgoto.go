package core

import (
	"appserver/core/pure/history"
	"appserver/protocol"
)

// GotoContext undoes or redoes edits until the context is as it was after the edit of a revision, or
// before the first edit for revision 0.
type GotoContext struct {
	To       protocol.Caller
	Expected *int64
	Revision int64
}

func (in GotoContext) apply(s *step) { s.gotoContext(in) }

// gotoContext records a line for each undo or redo, because every version of this program can replay
// those.
func (s *step) gotoContext(in GotoContext) {
	if s.rejectStale(in.To, in.Expected) {
		return
	}
	undo, redo, err := s.context.PathTo(in.Revision)
	if err != nil {
		s.reject(in.To, err)
		return
	}
	c := s.beginTrim()
	var changes []history.Change
	for range undo {
		e := s.context.Undoable()
		s.recordUndo(protocol.EditUndo, e)
		changes = append(changes, history.Reversed(e.Changes())...)
	}
	for range redo {
		e := s.context.Redoable()
		s.recordUndo(protocol.EditRedo, e)
		changes = append(changes, e.Changes()...)
	}
	s.endTrim(c, nil)
	s.answerEdit(in.To, protocol.ContextGotoResponse{Revision: s.context.Revision(), Undone: undo, Redone: redo,
		Usage: s.contextUsage()}, c, history.JoinChanges(changes))
}
