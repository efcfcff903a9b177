package history

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"appserver/core/lineref"
	"appserver/protocol"
)

// maxOrdinal bounds ordinals and revisions to integers that every reader of JSON knows exactly.
const maxOrdinal = 1 << 53

// Line is a line of the rollout that is applied.
type Line struct {
	protocol.RolloutLine
	Ordinal int64
	// TurnID is the turn to which items of the line belong.
	TurnID string
	// Source reads the line again, or is nil. Number is its number there.
	Source *lineref.Source
	Number int32
}

// ref returns a reference to the payload of the line, or to a part of it.
func (l *Line) ref(part int, raw []byte) lineref.Ref {
	return lineref.Ref{Raw: raw, Source: l.Source, Line: l.Number, Part: int32(part)}
}

// at returns the time of the line in Unix milliseconds. A line without a readable time has the time
// of the zero time.Time.
func (l *Line) at() int64 {
	return protocol.ParseTimestamp(l.Timestamp).UnixMilli()
}

// Edit is an entry of the journal. It has what it changed, so that it can be undone and redone.
type Edit struct {
	protocol.ContextEdit
	// changes is nil while stored is set: an edit from a snapshot decodes its changes at the first call of Changes.
	// Only code that has just made an edit reads the field itself.
	changes []Change
	stored  []byte
	decode  func(stored []byte) []Change
	// ordinal identifies the edit's line. bare is set for a compacted line without a history.
	ordinal int64
	bare    bool
	// final is set if the edit is undone and cannot be redone any more.
	final bool
	// point is the trim point of a trim, or of a compaction that has one, with its first summary.
	point *protocol.StoredTrimPoint
	// from is the ordinal of the first line that a revert takes out.
	from int64
	// of is the id of the trim point to which a summarize gives its text.
	of, text string
	// economy has facts about an automatic edit, or is nil.
	economy *protocol.StoredEconomy
	// voided are the ids of the trim points that a restore takes back.
	voided []string
	// saving is what the edit keeps out of the next request, in tokens.
	saving int64
}

// Ordinal returns the ordinal of the edit's line.
func (e *Edit) Ordinal() int64 { return e.ordinal }

// Economy returns facts about an automatic edit, or nil.
func (e *Edit) Economy() *protocol.StoredEconomy { return e.economy }

// Changes returns the changes of the edit.
func (e *Edit) Changes() []Change {
	if e.stored != nil {
		e.changes, e.stored = e.decode(e.stored), nil
	}
	return e.changes
}

// readChanges returns the changes of the edit, and does not keep those that it decodes. A long journal has many.
func (e *Edit) readChanges() []Change {
	if e.stored != nil {
		return e.decode(e.stored)
	}
	return e.changes
}

// IsRevert reports whether the edit takes turns out.
func (e *Edit) IsRevert() bool { return e.Op == protocol.EditRevert }

// makesPoint reports whether the edit made a trim point. A nil edit made none.
func (e *Edit) makesPoint(id string) bool { return e != nil && e.point != nil && e.point.ID == id }

// deletes reports whether the edit deletes the item at a place and is in force.
func (e *Edit) deletes(place int32) bool {
	if e.Undone || e.Op != protocol.EditDelete && e.Op != protocol.EditApply {
		return false
	}
	return slices.ContainsFunc(e.Changes(), func(c Change) bool {
		return c.place == place && (e.Op == protocol.EditDelete || !c.before.deleted && c.after.deleted)
	})
}

// hidesOnly reports whether the edit hides items or brings them back, and changes nothing else of them.
func (e *Edit) hidesOnly() bool {
	return e.Op == protocol.EditCompact || e.Op == protocol.EditTrim || e.Op == protocol.EditSummarize || e.IsRevert()
}

// mayReturn reports whether the edit can bring an item back that a compaction or a trim took out.
func (e *Edit) mayReturn() bool { return e.Op == protocol.EditInclude || e.Op == protocol.EditApply }

// returns reports whether the edit brings an item back that a compaction or a trim took out.
func (e *Edit) returns(c Change) bool { return e.mayReturn() && c.before.hidden && !c.after.hidden }

// bringsBack reports whether the edit brings back any such item.
func (e *Edit) bringsBack() bool { return e.mayReturn() && slices.ContainsFunc(e.Changes(), e.returns) }

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
	case protocol.EditExclude, protocol.EditInclude, protocol.EditDelete, protocol.EditPrune, protocol.EditMask,
		protocol.EditPin, protocol.EditUnpin, protocol.EditReplace, protocol.EditApply, protocol.EditRestore:
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

// SavedAt returns how many tokens the edits in force at a revision kept out of a request: the sum of what
// each of them saved when it was made. A revert saves nothing, and ends the savings of its items.
func (h *History) SavedAt(revision int64) int64 { return h.savings.at(revision) }

// setSaving sets what an edit keeps out of a request from the present revision on.
func (h *History) setSaving(e *Edit, tokens int64) {
	h.savings = h.savings.add(h.revision, tokens-e.saving)
	e.saving = tokens
}

// fullSaving returns what an edit saved when it was made. Lines of other programs may state anything.
func (e *Edit) fullSaving() int64 {
	if e.IsRevert() {
		return 0
	}
	return min(max(e.SavedTokens, -maxTokens), maxTokens)
}

// Undoable returns the edit to undo next, or nil. A revert, and the edits before it, cannot be
// undone.
func (h *History) Undoable() *Edit {
	for i := len(h.journal) - 1; i >= 0; i-- {
		switch e := &h.journal[i]; {
		case e.IsRevert():
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

// PathTo returns how many edits to undo, or else to redo, until the context is as it was after the edit
// of a revision, or before the first edit for revision 0.
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
		if e.IsRevert() {
			return 0, 0, protocol.Refuse(protocol.KindRevertBarrier,
				"revision %d is before a revert of turns, which cannot be undone: name revision %d or a later one",
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

// lastRevert returns the revision of the last revert.
func (h *History) lastRevert() (revision int64) {
	for i := range h.journal {
		if h.journal[i].IsRevert() {
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

// refresh updates the pairs, the notices and the place of the reminder after an edit.
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
	h.placeReminder()
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
	changes := make([]Change, 0, min(len(e.IDs), h.items.Len()))
	last, returns := None, e.Op == protocol.EditInclude && e.Returns
	for i, id := range e.IDs {
		place, found := h.Find(id)
		if !found || place <= last || h.Item(place).visibility.hidden && !returns ||
			returns && !h.Item(place).Listed() && h.NotReturnable(place) != "" {
			continue
		}
		last = place
		before := h.Item(place).visibility
		after := before
		after.apply(e, i)
		changes = append(changes, Change{int32(place), before, after})
	}
	return changes
}

// combined returns the changes of edits that are made one after the other: one change for each item
// that ends up different.
func (h *History) combined(edits []protocol.StoredContextEdit) []Change {
	var all []Change
	for i := range edits {
		if e := &edits[i]; isSimple(e.Op) {
			changes := h.ChangesOf(e)
			h.applyChanges(changes)
			all = append(all, changes...)
		}
	}
	h.revertChanges(all)
	return JoinChanges(all)
}

// isSimple reports whether an apply may contain an operation.
func isSimple(op string) bool {
	switch op {
	case protocol.EditExclude, protocol.EditInclude, protocol.EditDelete, protocol.EditPrune, protocol.EditPin,
		protocol.EditUnpin, protocol.EditReplace:
		return true
	}
	return false
}

// Restorable returns the changes of a restore now: it brings back all that edits took out or
// replaced since the last compaction. Pins stay. The summaries of trims go.
func (h *History) Restorable() []Change {
	var changes []Change
	trimmed := h.trimmed()
	for _, place := range h.shownAnd(maps.Keys(trimmed)) {
		before := h.at(place).visibility
		wasHidden, trims := trimmed[place]
		switch {
		case trims && !wasHidden && !before.hidden:
			changes = append(changes, Change{place, before, visibility{hidden: true}})
		case before.hidden && !wasHidden, !before.hidden && !before.deleted && !before.excluded && before.text == nil:
		default:
			changes = append(changes, Change{place, before, visibility{pinned: before.pinned}})
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

// ApplyCompacted applies a compacted line: it replaces the history by the one of the line, or by the
// user's messages and the summary. It is an edit that can be undone.
func (h *History) ApplyCompacted(line *Line) {
	var c protocol.Compacted
	if protocol.Unmarshal(line.Payload, &c) != nil {
		return
	}
	if c.TrimPoint != nil && c.ReplacementHistory == nil {
		c.TrimPoint.Summary = new(strings.TrimPrefix(c.Message, SummaryHead))
		h.addTrim(Edit{point: c.TrimPoint, ContextEdit: protocol.ContextEdit{Op: protocol.EditCompact}}, line)
		return
	}
	if isEncrypted(c.ReplacementHistory) {
		h.joinEncrypted(line, c.ReplacementHistory)
		return
	}
	h.replaceAll(line, &c)
}

// replaceAll hides all items and adds the items of a compaction.
func (h *History) replaceAll(line *Line, c *protocol.Compacted) {
	e := Edit{ordinal: line.Ordinal, bare: c.ReplacementHistory == nil}
	replacement := c.ReplacementHistory
	if e.bare {
		replacement = h.compactedHistory(c.Message)
	}
	e.Op, e.At = protocol.EditCompact, line.at()
	for _, i := range h.sortedShown() {
		e.changes = append(e.changes, h.hide(int32(i)))
	}
	e.Count = len(e.changes)
	h.applyChanges(e.changes) // first, because new items pair with items that are not hidden
	for k, raw := range replacement {
		ref := line.ref(k, raw)
		if e.bare {
			ref.Source = nil // the line does not have the item
		}
		h.add(line, ref)
		e.changes = append(e.changes, Change{int32(h.items.Len() - 1), visibility{hidden: true}, visibility{}})
	}
	h.markSummary(len(replacement), c.Message)
	h.countRevision(0)
	h.addEdit(e)
	h.refresh(&e)
}

// markSummary marks the last of the n last items that contains the summary.
func (h *History) markSummary(n int, summary string) {
	if summary == "" {
		return
	}
	for i := h.items.Len() - 1; i >= h.items.Len()-n; i-- {
		if strings.Contains(TextOf(h.Item(i).Decode()), summary) {
			h.Item(i).summary = true
			return
		}
	}
}

// compactedHistory returns the items after a compaction whose line has no history.
func (h *History) compactedHistory(summary string) []json.RawMessage {
	var kept []json.RawMessage
	for _, i := range h.sortedShown() {
		c := h.Item(i)
		if !c.message || !c.Kept() || c.ordinal < h.LastEncrypted() {
			continue
		}
		item := c.Decode()
		m, ok := item.ResponseItemVariant.(*protocol.Message)
		if ok && m.Role == protocol.RoleUser && !strings.HasPrefix(TextOf(item), protocol.PluginsTag) {
			kept = appendItem(kept, m)
		}
	}
	return appendItem(kept, UserMessage(summary))
}

func appendItem(list []json.RawMessage, v protocol.ResponseItemVariant) []json.RawMessage {
	raw, err := protocol.Marshal(protocol.ResponseItem{ResponseItemVariant: v})
	if err != nil {
		return list
	}
	return append(list, raw)
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
