package history

import (
	"maps"
	"slices"

	"appserver/protocol"
)

// Journal returns all edits, oldest first. The caller must not change them.
func (h *History) Journal() []Edit { return h.journal }

// Edits returns all edits as clients see them, oldest first.
func (h *History) Edits(withItems bool) []protocol.ContextEdit {
	edits := make([]protocol.ContextEdit, len(h.journal))
	for i := range h.journal {
		edits[i] = h.journal[i].ContextEdit
		if withItems {
			edits[i].Items = new(h.itemChanges(h.journal[i].Changes()))
		}
	}
	return edits
}

func (h *History) itemChanges(changes []Change) []protocol.ContextItemChange {
	items := make([]protocol.ContextItemChange, len(changes))
	for i, c := range changes {
		items[i] = protocol.ContextItemChange{ID: h.at(c.place).ID(), Was: c.before.state(), Is: c.after.state()}
		if items[i].Was == items[i].Is && c.before.pinned != c.after.pinned {
			items[i].Was, items[i].Is = pinState(c.before.pinned), pinState(c.after.pinned)
		}
	}
	return items
}

// LastEdit returns the edit that was applied last, or nil.
func (h *History) LastEdit() *Edit {
	if len(h.journal) == 0 {
		return nil
	}
	return &h.journal[len(h.journal)-1]
}

// EditAt returns the edit whose line has an ordinal, or nil.
func (h *History) EditAt(ordinal int64) *Edit {
	i := slices.IndexFunc(h.journal, func(e Edit) bool { return e.ordinal == ordinal })
	if i < 0 {
		return nil
	}
	return &h.journal[i]
}

// ApplyEdit applies a context_edit line. An unknown operation counts as an edit and changes nothing.
func (h *History) ApplyEdit(line *Line) {
	var e protocol.StoredContextEdit
	if protocol.Unmarshal(line.Payload, &e) != nil {
		return
	}
	h.countRevision(e.Revision)
	switch e.Op {
	case protocol.EditUndo:
		h.undo(e.Target)
	case protocol.EditRedo:
		h.redo(e.Target)
	case protocol.EditSummarize:
		h.summarize(line, &e)
	default:
		if _, known := effectOf(e.Op); !known && e.Op != protocol.EditApply && e.Op != protocol.EditRestore {
			return
		}
		made := Edit{ordinal: line.Ordinal, changes: h.ChangesOf(&e), economy: e.Economy, ContextEdit: protocol.ContextEdit{
			Op: e.Op, At: line.at(), SavedTokens: e.SavedTokens, ClientName: e.ClientName, Reason: e.Reason}}
		if e.Op == protocol.EditRestore {
			made.voided = h.restorable()
		}
		made.Count = len(made.changes)
		h.addEdit(made)
		h.refresh(&made)
	}
}

// countRevision counts an edit. Its line names the revision, because lines before it may be missing.
func (h *History) countRevision(named int64) {
	h.revision++
	if named > h.revision && named < maxOrdinal {
		h.revision = named
	}
}

// addEdit applies an edit of the present revision and adds it to the journal. Edits that are undone
// become final.
func (h *History) addEdit(e Edit) {
	for i := len(h.journal) - 1; i >= 0 && h.journal[i].Undone; i-- {
		h.journal[i].final = true
	}
	e.Revision = h.revision
	h.journal, h.trimmedTurns = append(h.journal, e), nil
	h.setSaving(&h.journal[len(h.journal)-1], e.fullSaving())
	h.applyChanges(e.changes)
}

// SavedAt returns the number of tokens that the edits in force at a revision kept out of a request:
// the sum of their savings when they were made. A revert saves nothing, and ends the savings of its
// items.
func (h *History) SavedAt(revision int64) int64 { return h.savings.at(revision) }

// setSaving sets what an edit keeps out of a request from the present revision on.
func (h *History) setSaving(e *Edit, tokens int64) {
	h.savings = h.savings.add(h.revision, tokens-e.saving)
	e.saving = tokens
}

// refresh updates the pairs and the notices after an edit.
func (h *History) refresh(e *Edit) {
	if changesHidden(e.Changes()) {
		if h.separatesPairs(e.Changes()) {
			h.pairAgain()
		}
		isNotice := func(c Change) bool { return h.at(c.place).IsNotice() }
		if slices.ContainsFunc(e.Changes(), isNotice) {
			h.findNotices()
		}
	}
}

// ChangesOf returns the changes that an edit makes now. It skips ids of unknown items, ids that are not in
// the order of the items, and items that cannot return.
func (h *History) ChangesOf(e *protocol.StoredContextEdit) []Change {
	switch e.Op {
	case protocol.EditRestore:
		return h.Restorable()
	case protocol.EditApply:
		return h.combined(e.Edits)
	}
	effect, known := effectOf(e.Op)
	if !known {
		return nil
	}
	changes := make([]Change, 0, min(len(e.IDs), h.items.Len()))
	last, returns := None, effect.returns && e.Returns
	for i, id := range e.IDs {
		place, found := h.Find(id)
		if !found || place <= last || h.Item(place).visibility.hidden && !returns ||
			returns && !h.Item(place).Listed() && h.NotReturnable(place) != "" {
			continue
		}
		last = place
		before := h.Item(place).visibility
		after := before
		after.apply(effect, e, i)
		changes = append(changes, Change{int32(place), before, after})
	}
	return changes
}

// combined returns the changes of edits that are made one after the other: one change for each item
// that ends up different.
func (h *History) combined(edits []protocol.StoredContextEdit) []Change {
	var all []Change
	for i := range edits {
		e := &edits[i]
		if effect, known := effectOf(e.Op); known && !effect.ofServer {
			changes := h.ChangesOf(e)
			h.applyChanges(changes)
			all = append(all, changes...)
		}
	}
	h.revertChanges(all)
	return JoinChanges(all)
}

// BroughtBack returns the places of items that an edit included again or brought back into the list, or that an
// edit excluded which is undone. Suggestions and automatic edits leave them.
func (h *History) BroughtBack() map[int]bool {
	places := map[int]bool{}
	for i := range h.journal {
		e := &h.journal[i]
		if e.hidesOnly() {
			continue
		}
		for _, c := range e.Changes() {
			included := c.before.excluded && !c.after.excluded && !c.after.hidden
			if !e.Undone && (included || e.returns(c)) || e.Undone && !c.before.excluded && c.after.excluded {
				places[int(c.place)] = true
			}
		}
	}
	return places
}

// Undoable returns the edit to undo next, or nil. A revert in force, and the edits before it, are none: only
// [History.UndoRevert] undoes a revert.
func (h *History) Undoable() *Edit {
	for i := len(h.journal) - 1; i >= 0; i-- {
		switch e := &h.journal[i]; {
		case e.revertInForce():
			return nil
		case !e.Undone:
			return e
		}
	}
	return nil
}

// Redoable returns the edit to redo next, or nil. It is the first of the undone edits at the end of
// the journal that are not final.
func (h *History) Redoable() (next *Edit) {
	for i := len(h.journal) - 1; i >= 0 && h.journal[i].Undone; i-- {
		if !h.journal[i].final {
			next = &h.journal[i]
		}
	}
	return next
}

// PathTo returns the number of edits to undo, or else to redo, until the context is as it was after
// the edit of a revision, or before the first edit for revision 0.
func (h *History) PathTo(revision int64) (undo, redo int, err *protocol.Error) {
	target := None
	if revision != 0 {
		target = slices.IndexFunc(h.journal, func(e Edit) bool { return e.Revision == revision })
	}
	switch {
	case revision == h.revision:
		return 0, 0, nil
	case revision != 0 && target < 0:
		return 0, 0, protocol.Refuse(protocol.KindRevisionNotFound,
			"there is no edit with revision %d: name 0, or the revision of an edit of context/listEdits", revision)
	case target >= 0 && h.journal[target].final:
		return 0, 0, protocol.Refuse(protocol.KindRevisionNotFound,
			"the edit with revision %d is undone and cannot be redone, because another edit or a revert followed: "+
				"name the revision of another edit of context/listEdits", revision)
	case target >= 0 && h.journal[target].Undone:
		return 0, h.countEdits(0, target+1, func(e *Edit) bool { return e.Undone && !e.final }), nil
	}
	for _, e := range h.journal[target+1:] {
		if e.revertInForce() {
			return 0, 0, protocol.Refuse(protocol.KindRevertBarrier,
				"revision %d is before a revert of turns, which only thread/revert/undo undoes: name revision %d or a later one",
				revision, h.lastRevert())
		}
	}
	return h.countEdits(target+1, len(h.journal), func(e *Edit) bool { return !e.Undone }), 0, nil
}

func (h *History) countEdits(from, end int, matches func(*Edit) bool) (n int) {
	for i := from; i < end; i++ {
		if matches(&h.journal[i]) {
			n++
		}
	}
	return n
}

// lastRevert returns the revision of the last revert in force.
func (h *History) lastRevert() (revision int64) {
	for i := range h.journal {
		if h.journal[i].revertInForce() {
			revision = h.journal[i].Revision
		}
	}
	return revision
}

func (h *History) undo(target int64) {
	if e := h.Undoable(); e != nil && e.ordinal == target {
		h.revertChanges(e.Changes())
		e.Undone, h.trimmedTurns = true, nil
		h.setSaving(e, 0)
		h.refresh(e)
	}
}

func (h *History) redo(target int64) {
	if e := h.Redoable(); e != nil && e.ordinal == target {
		h.applyChanges(e.Changes())
		e.Undone, h.trimmedTurns = false, nil
		h.setSaving(e, e.fullSaving())
		h.refresh(e)
	}
}

// Restorable returns the changes of a restore now: it brings back all that edits took out or
// replaced since the last compaction. Pins stay. The summaries of trims go.
func (h *History) Restorable() []Change {
	var changes []Change
	trimmed, all := h.trimmed(), operations()
	for _, place := range h.shownAnd(maps.Keys(trimmed)) {
		before := h.at(place).visibility
		wasHidden, trims := trimmed[place]
		if before.hidden && !wasHidden {
			continue
		}
		after := before.restored(all)
		after.hidden = trims && !wasHidden
		if after != before {
			changes = append(changes, Change{place, before, after})
		}
	}
	return changes
}

// trimmed returns the items that the trims changed which a restore takes back. The value is true for
// an item that was hidden, and false for a summary that joined.
func (h *History) trimmed() map[int32]bool {
	items := map[int32]bool{}
	for _, e := range h.restorableTrims() {
		for _, c := range e.Changes() {
			if _, met := items[c.place]; !met {
				items[c.place] = c.after.hidden
			}
		}
	}
	return items
}
