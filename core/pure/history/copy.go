package history

import (
	"slices"

	"appserver/protocol"
)

// After returns a copy of the history as undo and redo would leave it at a revision. The history does not
// change. Revisions that undo and redo cannot reach have the errors of [History.PathTo].
func (h *History) After(revision int64) (*History, *protocol.Error) {
	undo, redo, err := h.PathTo(revision)
	if err != nil {
		return nil, err
	}
	c := h.clone()
	for range undo {
		c.undo(c.Undoable().ordinal)
	}
	for range redo {
		c.redo(c.Redoable().ordinal)
	}
	c.ChooseForms()
	return c, nil
}

// With returns a copy of the history as operations would leave it, if they were one edit. The history does
// not change.
func (h *History) With(operations []protocol.ContextOperation, turns Turns) (*History, *protocol.Error) {
	line, _, err := h.PlanAll(operations, turns)
	if err != nil {
		return nil, err
	}
	return h.WithLine(&line), nil
}

// WithLine returns a copy of the history as an edit would leave it. The history does not change.
func (h *History) WithLine(e *protocol.StoredContextEdit) *History {
	c := h.clone()
	c.change(c.ChangesOf(e))
	return c
}

// WithTrim returns a copy of the history as a trim point would leave it, without its summary. The history does not
// change.
func (h *History) WithTrim(p *protocol.StoredTrimPoint) *History {
	c := h.clone()
	c.change(c.TrimChanges(p))
	return c
}

// change applies changes to a copy.
func (h *History) change(changes []Change) {
	e := Edit{changes: changes}
	h.applyChanges(e.changes)
	h.refresh(&e)
	h.ChooseForms()
}

// clone returns a history that edits do not share with h. Items must not be added to it.
func (h *History) clone() *History {
	h.updateShown()
	c := *h
	c.shown.places = slices.Clip(h.shown.places)
	c.items, c.order, c.journal = h.items.Clone(), slices.Clone(h.order), slices.Clone(h.journal)
	c.savings = slices.Clone(h.savings)
	c.latestCall, c.usage = h.latestCall.Clone(), nil
	return &c
}
