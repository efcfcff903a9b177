package core

import (
	"encoding/json"
	"slices"
	"strings"

	"appserver/protocol"
)

// edit is an entry of the journal of context edits: what it changed, so that it can be
// taken back and made again.
type edit struct {
	protocol.ContextEdit
	changes []change
	// ordinal is that of the compacted line, and bare is set where it brings no history.
	ordinal int64
	bare    bool
	// final is set once an undone edit cannot be made again.
	final bool
	// point is the trim point of a trim, or of a compaction that has one. Its summary is
	// the one it began with.
	point *protocol.StoredTrimPoint
	// from is the first line that a revert takes out.
	from int64
	// of is the trim point that a summarize gives its text.
	of, text string
	// voided are the ids of the trim points that a restore takes back.
	voided []string
}

// change is what an edit made of an item.
type change struct {
	place         int32
	before, after fate
}

// surroundings are the texts on them that were last put into the history, and the last
// reminder.
type surroundings struct{ environment, instructions, reminder string }

// applyContextEdit takes a context_edit line. Operations that are not known count, and
// change nothing.
func (l *log) applyContextEdit(ordinal int64, line *protocol.RolloutLine) {
	var e protocol.StoredContextEdit
	if protocol.Unmarshal(line.Payload, &e) != nil {
		return
	}
	l.revise(e.Revision)
	switch e.Op {
	case protocol.EditUndo:
		l.undo(e.Target)
	case protocol.EditRedo:
		l.redo(e.Target)
	case protocol.EditSummarize:
		l.summarize(ordinal, line, &e)
	case protocol.EditExclude, protocol.EditInclude, protocol.EditDelete, protocol.EditPrune, protocol.EditMask, protocol.EditPin,
		protocol.EditUnpin, protocol.EditReplace, protocol.EditRestore:
		made := edit{ordinal: ordinal, changes: l.changesOf(&e), ContextEdit: protocol.ContextEdit{
			Op: e.Op, At: parseTime(line.Timestamp).UnixMilli(), SavedTokens: e.SavedTokens}}
		if e.Op == protocol.EditRestore {
			made.voided = l.restorable()
		}
		made.Count = len(made.changes)
		l.enter(made)
		l.hiddenAnew(&made)
	}
}

// revise counts an edit. A line tells its revision, because lines before it may be
// gone.
func (h *history) revise(told int64) {
	h.revision++
	if told > h.revision && told < maxOrdinal {
		h.revision = told
	}
}

// enter makes an edit of the revision that was just counted, and enters it in the
// journal. What was undone before is final then.
func (l *log) enter(e edit) {
	for i := len(l.journal) - 1; i >= 0 && l.journal[i].Undone; i-- {
		l.journal[i].final = true
	}
	e.Revision = l.revision
	l.journal = append(l.journal, e)
	l.history.put(e.changes)
}

// put gives items the fates after changes.
func (h *history) put(changes []change) {
	for _, c := range changes {
		h.give(c.place, c.after)
	}
}

func (h *history) give(place int32, f fate) {
	h.items[place].take(f)
	if !f.hidden {
		h.hiddenTo = min(h.hiddenTo, place)
	}
}

// takeBack gives items the fates before changes.
func (h *history) takeBack(changes []change) {
	for i := len(changes) - 1; i >= 0; i-- {
		h.give(changes[i].place, changes[i].before)
	}
}

func (c *contextItem) take(f fate) {
	if c.fate.text != f.text {
		c.about = nil
	}
	c.fate = f
	if f.hidden && c.Source != nil {
		c.item = protocol.ResponseItem{}
	}
}

// undoable is the edit to undo next, nil where there is none. A revert, and what is before
// it, stays.
func (h *history) undoable() *edit {
	for i := len(h.journal) - 1; i >= 0; i-- {
		switch e := &h.journal[i]; {
		case e.reverts():
			return nil
		case !e.Undone:
			return e
		}
	}
	return nil
}

// redoable is the edit to redo next, nil where there is none: the first of those behind
// the last edit in force that are not final.
func (h *history) redoable() (next *edit) {
	for i := len(h.journal) - 1; i >= 0 && h.journal[i].Undone; i-- {
		if !h.journal[i].final {
			next = &h.journal[i]
		}
	}
	return next
}

// follow deletes the output of a call that was deleted before it came, with the same edit.
func (h *history) follow(place int) {
	call := h.items[place].pair
	if call == none || !h.items[call].fate.deleted {
		return
	}
	for i := len(h.journal) - 1; i >= 0; i-- {
		e := &h.journal[i]
		if e.Op == protocol.EditDelete && !e.Undone && e.changesPlace(call) {
			c := change{int32(place), fate{}, fate{deleted: true}}
			e.changes = append(e.changes, c)
			h.items[place].take(c.after)
			return
		}
	}
}

func (e *edit) changesPlace(place int32) bool {
	return slices.ContainsFunc(e.changes, func(c change) bool { return c.place == place })
}

// undo takes back the edit of the line with the ordinal.
func (l *log) undo(target int64) {
	if e := l.undoable(); e != nil && e.ordinal == target {
		l.takeBack(e.changes)
		e.Undone = true
		l.hiddenAnew(e)
	}
}

// redo makes it again.
func (l *log) redo(target int64) {
	if e := l.redoable(); e != nil && e.ordinal == target {
		l.put(e.changes)
		e.Undone = false
		l.hiddenAnew(e)
	}
}

// hiddenAnew updates what depends on the items that an edit changed: pairs, what the model was
// told of its surroundings, and the place of the reminder.
func (l *log) hiddenAnew(e *edit) {
	if hides(e.changes) {
		if l.partsPairs(e.changes) {
			l.pairAgain()
		}
		if slices.ContainsFunc(e.changes, func(c change) bool { return l.items[c.place].tells != nothing }) {
			l.hearAgain()
		}
	}
	l.placeReminder()
}

// partsPairs tells whether changes may alter which calls and outputs belong together: not
// where both halves of a pair come and go together.
func (h *history) partsPairs(changes []change) bool {
	hidden := map[int32]bool{}
	for _, c := range changes {
		if h.items[c.place].role != unpaired && c.before.hidden != c.after.hidden {
			hidden[c.place] = h.items[c.place].fate.hidden
		}
	}
	for place, is := range hidden {
		pair := h.items[place].pair
		if pair == none {
			return true
		}
		if its, changes := hidden[pair]; !changes || its != is {
			return true
		}
	}
	return false
}

// hides tells whether changes are of what is hidden.
func hides(changes []change) bool {
	return slices.ContainsFunc(changes, func(c change) bool { return c.before.hidden != c.after.hidden })
}

// changesOf is what a line changes. Ids of items that are not there are passed over, and
// those that are not in the order of the items.
func (h *history) changesOf(e *protocol.StoredContextEdit) []change {
	if e.Op == protocol.EditRestore {
		return h.restoring()
	}
	changes := make([]change, 0, min(len(e.IDs), len(h.items)))
	last := none
	for i, id := range e.IDs {
		place, found := h.find(id)
		if !found || place <= last || h.items[place].fate.hidden {
			continue
		}
		last = place
		before := h.items[place].fate
		after := before
		after.become(e, i)
		changes = append(changes, change{int32(place), before, after})
	}
	return changes
}

// become changes a fate as the edit of the i-th id says.
func (f *fate) become(e *protocol.StoredContextEdit, i int) {
	if i < len(e.Tokens) {
		f.says = int32(min(max(e.Tokens[i], 0), maxTokens))
	}
	switch e.Op {
	case protocol.EditExclude, protocol.EditPrune, protocol.EditMask:
		f.excluded = true
	case protocol.EditInclude:
		f.excluded, f.says = false, 0
	case protocol.EditDelete:
		f.deleted = true
	case protocol.EditPin, protocol.EditUnpin:
		f.pinned = e.Op == protocol.EditPin
	case protocol.EditReplace:
		f.text = e.Text
	}
}

// restoring brings back all that edits took out or replaced since the last compaction.
// Pins stay; the summaries of trims go.
func (h *history) restoring() []change {
	var changes []change
	trimmed := h.trimmed()
	for i := range h.items {
		before := h.items[i].fate
		shown, trims := trimmed[int32(i)]
		switch {
		case trims && !shown && !before.hidden:
			changes = append(changes, change{int32(i), before, fate{hidden: true}})
		case before.hidden && !shown, !before.hidden && !before.deleted && !before.excluded && before.text == nil:
		default:
			changes = append(changes, change{int32(i), before, fate{pinned: before.pinned}})
		}
	}
	return changes
}

// trimmed are the items that came or went with the trims which a restore takes back;
// those that went are true.
func (h *history) trimmed() map[int32]bool {
	items := map[int32]bool{}
	for _, e := range h.trims() {
		for _, c := range e.changes {
			if _, met := items[c.place]; !met {
				items[c.place] = c.after.hidden
			}
		}
	}
	return items
}

// applyCompacted replaces the history by the one the line brings, or by the user's
// words and the summary. It is an edit like others, that can be undone.
func (l *log) applyCompacted(ordinal int64, line *protocol.RolloutLine) {
	var c protocol.Compacted
	if protocol.Unmarshal(line.Payload, &c) != nil {
		return
	}
	if c.TrimPoint != nil && c.ReplacementHistory == nil {
		c.TrimPoint.Summary = new(strings.TrimPrefix(c.Message, summaryHead))
		l.cut(edit{ordinal: ordinal, point: c.TrimPoint, ContextEdit: protocol.ContextEdit{Op: protocol.EditCompact}}, line)
		return
	}
	if isSealed(c.ReplacementHistory) {
		l.joinSealed(ordinal, c.ReplacementHistory)
		return
	}
	e := edit{ordinal: ordinal, bare: c.ReplacementHistory == nil}
	replacement := c.ReplacementHistory
	if e.bare {
		replacement = l.compactedHistory(c.Message)
	}
	e.Op, e.At = protocol.EditCompact, parseTime(line.Timestamp).UnixMilli()
	for i := l.hiddenTo; i < int32(len(l.items)); i++ {
		if before := l.items[i].fate; !before.hidden {
			after := before
			after.hidden = true
			e.changes = append(e.changes, change{i, before, after})
		}
	}
	e.Count = len(e.changes)
	l.put(e.changes) // before others join, which pair with what is not hidden
	l.hiddenTo = int32(len(l.items))
	for k, raw := range replacement {
		what := l.ref(k, raw)
		if e.bare {
			what.Source = nil // the line does not have it
		}
		l.remember(ordinal, what)
		e.changes = append(e.changes, change{int32(len(l.items) - 1), fate{hidden: true}, fate{}})
	}
	l.markSummary(len(replacement), c.Message)
	l.revise(0)
	l.enter(e)
	l.hiddenAnew(&e)
}

// markSummary notes which of the last n items holds a compaction's summary: the last
// with its words.
func (l *log) markSummary(n int, summary string) {
	if summary == "" {
		return
	}
	for i := len(l.items) - 1; i >= len(l.items)-n; i-- {
		if containsText(l.items[i].decoded(), summary) {
			l.items[i].summary = true
			return
		}
	}
}

func (l *log) compactedHistory(summary string) []json.RawMessage {
	var kept []json.RawMessage
	for i := int(l.hiddenTo); i < len(l.items); i++ {
		if c := &l.items[i]; !c.message || !c.kept() || c.ordinal < l.lastSealed() {
			continue
		}
		m, ok := l.items[i].decoded().ResponseItemVariant.(*protocol.Message)
		if ok && m.Role == protocol.RoleUser && !strings.HasPrefix(textOf(protocol.ResponseItem{ResponseItemVariant: m}), protocol.PluginsTag) {
			kept = appendJSON(kept, protocol.ResponseItem{ResponseItemVariant: m})
		}
	}
	return appendJSON(kept, protocol.ResponseItem{ResponseItemVariant: userText(summary)})
}
