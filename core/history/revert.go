package history

import (
	"maps"
	"slices"

	"appserver/protocol"
)

// Revert takes out the lines from an ordinal on. It hides the items that joined since, and brings back
// what trims and compactions hid since. Other edits of the remaining items stay. No earlier edit can be
// undone or redone afterwards. revision is the one that the line names.
func (h *History) Revert(line *Line, from, revision int64) {
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
