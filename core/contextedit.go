package core

import (
	"appserver/core/pure/history"
	"appserver/protocol"
)

// EditContext applies an operation to the context.
type EditContext struct {
	To protocol.Caller
	// Client is the name of the client.
	Client string
	// Expected is the revision that the context must have, or nil for any.
	Expected  *int64
	Operation protocol.ContextOperationVariant
}

// UndoContext undoes the last edit of the context, RedoContext redoes the edit that was undone last,
// and RestoreContext brings back all that edits took out.
type (
	UndoContext struct {
		To       protocol.Caller
		Expected *int64
	}
	RedoContext struct {
		To       protocol.Caller
		Expected *int64
	}
	RestoreContext struct {
		To       protocol.Caller
		Client   string
		Expected *int64
	}
)

func (in EditContext) apply(s *step)    { s.editContext(in) }
func (in UndoContext) apply(s *step)    { s.undoContext(in) }
func (in RedoContext) apply(s *step)    { s.redoContext(in) }
func (in RestoreContext) apply(s *step) { s.restoreContext(in) }

// ContextChanged notifies every subscriber that the list of context items changed. The notification is
// built by [Thread.ContextItems] or [Thread.ContextChanges], before the next step.
type ContextChanged struct {
	history.Update
	// OnlyNew is set if the list has new items of an active turn. Only clients that keep the list are notified.
	OnlyNew bool
}

func (ContextChanged) message() {}

// ContextReplaced notifies every subscriber of all context items.
func ContextReplaced() ContextChanged { return ContextChanged{Update: history.Update{All: true}} }

// rejectStale rejects an edit for another revision, and reports whether it did.
func (s *step) rejectStale(to protocol.Caller, expected *int64) bool {
	if expected == nil || *expected == s.context.Revision() {
		return false
	}
	err := protocol.Refuse(protocol.KindStaleRevision,
		"the context has revision %d, not %d: read it again, and repeat the edit if it still makes sense",
		s.context.Revision(), *expected)
	err.Data.Revision = new(s.context.Revision())
	s.reject(to, err)
	return true
}

func (s *step) editContext(in EditContext) {
	if s.rejectStale(in.To, in.Expected) {
		return
	}
	p, err := s.context.Plan(in.Operation, s.state.SelectTurns)
	if err != nil {
		s.reject(in.To, err)
		return
	}
	var changes []history.Change
	if len(p.Places) > 0 {
		s.closeDanglingTurn() // before the line: calls may get outputs
		line := s.context.Encode(p)
		line.ClientName = in.Client
		changes = s.commitEdit(line)
	}
	s.reply(in.To, protocol.RespondToEdit(in.Operation, protocol.ContextEdited{
		Revision: s.context.Revision(), Changed: len(changes), Ignored: p.Ignored, Usage: s.contextUsage()}))
	s.contextChanged(changes)
}

func (s *step) undoContext(in UndoContext) {
	if s.rejectStale(in.To, in.Expected) {
		return
	}
	e := s.context.Undoable()
	if e == nil {
		s.reject(in.To, protocol.Refuse(protocol.KindNothingToUndo, "there is no edit of the context to undo"))
		return
	}
	c := s.beginTrim()
	s.recordUndo(protocol.EditUndo, e)
	s.endTrim(c, nil)
	s.answerEdit(in.To, protocol.ContextUndoResponse{Revision: s.context.Revision(), Undone: e.ContextEdit,
		Usage: s.contextUsage()}, c, e.Changes())
}

func (s *step) redoContext(in RedoContext) {
	if s.rejectStale(in.To, in.Expected) {
		return
	}
	e := s.context.Redoable()
	if e == nil {
		s.reject(in.To, protocol.Refuse(protocol.KindNothingToRedo, "there is no undone edit of the context to redo"))
		return
	}
	c := s.beginTrim()
	s.recordUndo(protocol.EditRedo, e)
	s.endTrim(c, nil)
	s.answerEdit(in.To, protocol.ContextRedoResponse{Revision: s.context.Revision(), Redone: e.ContextEdit,
		Usage: s.contextUsage()}, c, e.Changes())
}

// recordUndo appends the undo or the redo of an edit.
func (s *step) recordUndo(op string, e *history.Edit) {
	s.closeDanglingTurn()
	s.record(protocol.LineContextEdit,
		protocol.StoredContextEdit{Op: op, Revision: s.context.Revision() + 1, Target: e.Ordinal()})
	s.out.Sync = true
}

func (s *step) restoreContext(in RestoreContext) {
	if s.rejectStale(in.To, in.Expected) {
		return
	}
	c, changes := s.beginTrim(), s.context.Restorable()
	restored := history.CountShown(changes)
	if len(changes) > 0 || s.context.RestoresPoints() {
		s.closeDanglingTurn()
		changes = s.commitEdit(protocol.StoredContextEdit{Op: protocol.EditRestore, ClientName: in.Client})
	}
	s.endTrim(c, nil)
	s.answerEdit(in.To, protocol.ContextRestoreResponse{Revision: s.context.Revision(), Restored: restored,
		Usage: s.contextUsage()}, c, changes)
}
