package core

import (
	"slices"

	"appserver/protocol"
)

// EditContext changes what the model is sent.
type EditContext struct {
	To protocol.Caller
	// Expected is the revision that the context must have; nil takes any.
	Expected  *int64
	Operation protocol.ContextOperationVariant
}

// UndoContext takes back the last edit of the context, RedoContext makes the one again
// that was taken back last, RestoreContext brings back all that edits took out.
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
		Expected *int64
	}
)

func (in EditContext) apply(s *step)    { s.editContext(in) }
func (in UndoContext) apply(s *step)    { s.undoContext(in) }
func (in RedoContext) apply(s *step)    { s.redoContext(in) }
func (in RestoreContext) apply(s *step) { s.restoreContext(in) }

// ContextChanged tells every subscriber that the list of context items is another one.
// What they are told is ContextItems or ContextChanges, made before the next step.
type ContextChanged struct {
	// Places are of the items that changed, in order; those from New on are new. Removed
	// are the ids of items that left the list.
	Places  []int
	Removed []string
	New     int
	// All is set where every item may have changed. Then the others are empty.
	All bool
	// to is the destination of the thread; the step may go on with another.
	to destination
}

func (ContextChanged) message() {}

// stale refuses an edit that was meant for another revision.
func (s *step) stale(to protocol.Caller, expected *int64) bool {
	if expected == nil || *expected == s.revision {
		return false
	}
	err := protocol.Refuse(protocol.KindStaleRevision, "the context has revision %d, not %d: read it again, and repeat the edit if it still makes sense",
		s.revision, *expected)
	err.Data.Revision = new(s.revision)
	s.refuse(to, err)
	return true
}

func (s *step) editContext(in EditContext) {
	if s.stale(in.To, in.Expected) {
		return
	}
	p, err := s.plan(in.Operation)
	if err != nil {
		s.refuse(in.To, err)
		return
	}
	var changes []change
	if len(p.places) > 0 {
		s.settleLastTurn() // before the line: calls may get outputs
		changes = s.commit(s.line(p))
	}
	s.reply(in.To, s.edited(in.Operation, len(changes), p.ignored))
	s.tellContext(changes)
}

// edited is the answer to an operation.
func (s *step) edited(operation protocol.ContextOperationVariant, changed, ignored int) any {
	switch operation.(type) {
	case *protocol.SetInclusion:
		return protocol.ContextSetInclusionResponse{Revision: s.revision, Changed: changed, Ignored: ignored, Usage: s.contextUsage()}
	case *protocol.PruneByIndices:
		return protocol.ContextPruneByIndicesResponse{Revision: s.revision, Removed: changed, Ignored: ignored, Usage: s.contextUsage()}
	case *protocol.Prune:
		return protocol.ContextPruneResponse{Revision: s.revision, Changed: changed, Usage: s.contextUsage()}
	case *protocol.Pin:
		return protocol.ContextPinResponse{Revision: s.revision, Changed: changed, Ignored: ignored}
	}
	return protocol.ContextReplaceResponse{Revision: s.revision, Usage: s.contextUsage()}
}

// commit writes an edit, which makes it, and gives what it changed.
func (s *step) commit(e protocol.StoredContextEdit) []change {
	e.SavedTokens = s.savedBy(s.changesOf(&e))
	e.Revision = s.revision + 1
	s.record(protocol.LineContextEdit, e)
	s.out.Sync = true
	return s.journal[len(s.journal)-1].changes
}

// placesOf are the places of changed items, of the other halves of their pairs, and of the
// reasoning that goes with them, in order.
func (h *history) placesOf(changes []change) []int {
	var places []int
	for _, c := range changes {
		places = append(places, int(c.place))
		if pair := h.items[c.place].pair; pair != none {
			places = append(places, int(pair))
		}
		places = append(places, h.thoughts(int(c.place))...)
	}
	slices.Sort(places)
	return slices.Compact(places)
}

func (s *step) undoContext(in UndoContext) {
	if s.stale(in.To, in.Expected) {
		return
	}
	e := s.undoable()
	if e == nil {
		s.refuse(in.To, protocol.Refuse(protocol.KindNothingToUndo, "there is no edit of the context to undo"))
		return
	}
	c := s.beginCut()
	s.retrace(protocol.EditUndo, e)
	s.endCut(c, nil)
	s.reply(in.To, protocol.ContextUndoResponse{Revision: s.revision, Undone: e.ContextEdit, Usage: s.contextUsage()})
	s.tellCut(c)
	s.tellContext(e.changes)
}

func (s *step) redoContext(in RedoContext) {
	if s.stale(in.To, in.Expected) {
		return
	}
	e := s.redoable()
	if e == nil {
		s.refuse(in.To, protocol.Refuse(protocol.KindNothingToRedo, "there is no undone edit of the context to redo"))
		return
	}
	c := s.beginCut()
	s.retrace(protocol.EditRedo, e)
	s.endCut(c, nil)
	s.reply(in.To, protocol.ContextRedoResponse{Revision: s.revision, Redone: e.ContextEdit, Usage: s.contextUsage()})
	s.tellCut(c)
	s.tellContext(e.changes)
}

// retrace writes that an edit is undone or redone, which does it.
func (s *step) retrace(op string, e *edit) {
	s.settleLastTurn()
	s.record(protocol.LineContextEdit, protocol.StoredContextEdit{Op: op, Revision: s.revision + 1, Target: e.ordinal})
	s.out.Sync = true
}

func (s *step) restoreContext(in RestoreContext) {
	if s.stale(in.To, in.Expected) {
		return
	}
	c, changes := s.beginCut(), s.restoring()
	restored := countListed(changes)
	if points, lasting := s.foldPoints(); len(changes) > 0 || len(points) > lasting {
		s.settleLastTurn()
		changes = s.commit(protocol.StoredContextEdit{Op: protocol.EditRestore})
	}
	s.endCut(c, nil)
	s.reply(in.To, protocol.ContextRestoreResponse{Revision: s.revision, Restored: restored, Usage: s.contextUsage()})
	s.tellCut(c)
	s.tellContext(changes)
}

// countListed counts the items that are listed after changes.
func countListed(changes []change) (n int) {
	for _, c := range changes {
		if !c.after.hidden {
			n++
		}
	}
	return n
}

// tellContext has the step end with telling that the list is another one: items changed,
// or came. It is told of every edit, those that changed nothing too, so that clients can
// wait for it, and once a step, because what is told is the list as the step leaves it.
func (s *step) tellContext(changes []change) {
	s.tells, s.changes = true, append(s.changes, changes...)
}

// endStep tells what tellContext gathered.
func (s *step) endStep() {
	if !s.tells {
		return
	}
	told := ContextChanged{New: s.toldItems, to: s.destination()}
	told.All = s.allChanged || s.reordered || hides(s.changes) || s.toldItems > 0 && s.toldFor != s.destination() // hiding changes pairs, too
	if !told.All {
		told.Places, told.Removed = s.placesOf(s.changes), s.removedBy(s.changes)
	}
	s.say(told)
	s.rememberGone(s.changes)
	s.toldItems, s.toldFor, s.allChanged, s.reordered = len(s.items), s.destination(), false, false
}

// removedBy are the ids of the items that left the list with changes, or with their
// being taken back.
func (s *step) removedBy(changes []change) (ids []string) {
	gone := map[int32]bool{}
	for _, c := range changes {
		was, item := c.before, &s.items[c.place]
		if was == item.fate {
			was = c.after
		}
		if !was.hidden && !was.deleted && !item.listed() && int(c.place) < s.toldItems && !gone[c.place] {
			gone[c.place] = true
			ids = append(ids, item.id())
		}
	}
	return ids
}
