package history

import (
	"maps"
	"slices"

	"appserver/protocol"
)

// Reverted has the data for the undo of a revert. It is valid while no item joins the history, except for summaries.
type Reverted struct {
	// at is the index of the revert in the journal.
	at int
	// was has the state of the earlier edits before the revert, by their indices, if the revert changed it.
	was       map[int]editState
	encrypted []int64
}

// editState is the part of an edit that later edits change.
type editState struct {
	undone, final bool
	saving        int64
}

func (e *Edit) editState() editState { return editState{e.Undone, e.final, e.saving} }

// Revert removes the lines from an ordinal on. It hides the items that joined since, and brings back
// what trims and compactions hid since. Other edits of the remaining items stay. No earlier edit can be
// undone or redone afterwards, unless the revert is undone. revision is the one that the line names.
func (h *History) Revert(line *Line, from, revision int64) Reverted {
	before := make([]editState, len(h.journal))
	for i := range h.journal {
		before[i] = h.journal[i].editState()
	}
	r := Reverted{at: len(h.journal), was: map[int]editState{}, encrypted: slices.Clone(h.encrypted)}
	h.revert(line, from, revision)
	for i, was := range before {
		if h.journal[i].editState() != was {
			r.was[i] = was
		}
	}
	return r
}

func (h *History) revert(line *Line, from, revision int64) {
	e := Edit{ordinal: line.Ordinal, from: from}
	e.Op, e.At = protocol.EditRevert, line.at()
	e.changes = h.revertingChanges(from)
	e.Count = len(e.changes)
	for _, trim := range h.trimsSince(from) {
		trim.Undone, trim.final = true, true
	}
	h.countRevision(revision)
	h.revertSavings(from)
	h.addEdit(e)
	h.refresh(&e)
	h.encrypted = slices.DeleteFunc(h.encrypted, func(ordinal int64) bool { return ordinal >= from })
	h.formsDue = true
}

// CanUndoRevert reports whether no later edit than a revert is in force.
func (h *History) CanUndoRevert(r *Reverted) bool {
	later := h.journal[r.at+1:]
	return !slices.ContainsFunc(later, func(e Edit) bool { return !e.Undone })
}

// UndoRevert restores the lines that a revert removed. Earlier edits can be undone and redone as
// before the revert, later ones not any more. The caller has counted the revision.
func (h *History) UndoRevert(r *Reverted) {
	e := &h.journal[r.at]
	h.revertChanges(e.Changes())
	e.Undone = true
	for i := r.at; i < len(h.journal); i++ {
		h.journal[i].final = true
	}
	for i, was := range r.was {
		earlier := &h.journal[i]
		earlier.Undone, earlier.final = was.undone, was.final
		h.setSaving(earlier, was.saving)
	}
	h.encrypted, h.formsDue, h.trimmedTurns = r.encrypted, true, nil
	h.refresh(e)
}

// trimsSince returns the trims and compactions in force from a line on, and the summaries that they
// were given, the last one first.
func (h *History) trimsSince(from int64) (trims []*Edit) {
	points := h.TrimPoints()
	for i := len(h.journal) - 1; i >= 0 && h.journal[i].ordinal >= from; i-- {
		e := &h.journal[i]
		made := e.point != nil && IndexOfPoint(points, e.point.ID) >= 0
		summarizes := e.of != "" && IndexOfPoint(points, e.of) >= 0
		if !e.Undone && (e.Op == protocol.EditCompact || made || summarizes) {
			trims = append(trims, e)
		}
	}
	return trims
}

func (h *History) revertingChanges(from int64) (changes []Change) {
	hidden := map[int32]bool{} // whether an item is hidden afterwards
	for _, e := range h.trimsSince(from) {
		for _, c := range slices.Backward(e.Changes()) {
			hidden[c.place] = c.before.hidden
		}
	}
	for place := h.FindOrdinal(from); place < h.items.Len(); place++ {
		hidden[int32(place)] = true
	}
	for _, place := range slices.Sorted(maps.Keys(hidden)) {
		before := h.at(place).visibility
		after := before
		after.hidden = hidden[place]
		if after != before {
			changes = append(changes, Change{place, before, after})
		}
	}
	return changes
}

// revertSavings ends the savings of items that joined since a line. Items of an edit count alike, because
// the line of the edit has their sum only.
func (h *History) revertSavings(from int64) {
	for i := range h.journal {
		e := &h.journal[i]
		if e.saving == 0 {
			continue
		}
		left := 0
		for _, c := range e.Changes() {
			if h.at(c.place).ordinal >= from {
				left++
			}
		}
		switch {
		case e.Undone:
			h.setSaving(e, 0)
		case left > 0:
			h.setSaving(e, e.saving*int64(len(e.Changes())-left)/int64(len(e.Changes())))
		}
	}
}
