package core_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"appserver/core"
	"appserver/protocol"
	"appserver/test/sample"
)

// TestReturnedItemsAreInThePrompt takes items out by a trim or a compaction, and includes some of them again. The
// preview tells the result, undo and redo switch between both contexts, and the checker compares every step.
func TestReturnedItemsAreInThePrompt(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		e := newExplorer(t)
		t.Repeat(e.actions())
		for range rapid.IntRange(1, 3).Draw(t, "removals") {
			rapid.SampledFrom([]func(*rapid.T){e.foreign, e.trim, e.trim, e.compact}).Draw(t, "removal")(t)
		}
		if e.midCut() || e.thread.ActiveTurn() != "" {
			return // the edit writes that the turn was cut, too
		}
		before, revision, operation := e.state(), e.thread.ContextRevision(), e.returning(t)
		told, _ := e.told(nil, []protocol.ContextOperation{{ContextOperationVariant: operation}})
		out := e.take(core.EditContext{To: e.caller(), Operation: operation})
		if refuses(out) || e.thread.ContextRevision() == revision {
			return
		}
		after := e.state()
		if got := encode(e.thread.Prompt().Items); got != told {
			t.Fatalf("told:\n%s\nprompt:\n%s", told, got)
		}
		e.take(core.UndoContext{To: e.caller()})
		if got := e.state(); got != before {
			t.Fatalf("undone:\n%s\nbefore:\n%s", got, before)
		}
		e.take(core.RedoContext{To: e.caller()})
		if got := e.state(); got != after {
			t.Fatalf("redone:\n%s\nafter:\n%s", got, after)
		}
		t.Repeat(e.actions())
	})
}

// editedIn reports whether an edit that waited for the end of the turn names an item in the same step: it can bring the
// item back, or delete it.
func editedIn(out core.Output, id string) bool {
	return slices.ContainsFunc(out.Lines, func(l protocol.RolloutLine) bool {
		return applies(l) && strings.Contains(string(l.Payload), `"`+id+`"`)
	})
}

// bringBack includes items that are not in the list.
func (e *explorer) bringBack(t *rapid.T) {
	e.run(t, core.EditContext{To: e.caller(), Expected: e.expected(t), Operation: e.returning(t)})
}

// returning draws an operation that includes removed items.
func (e *explorer) returning(t *rapid.T) *protocol.SetInclusion {
	ids := append(e.removed(), "r99999")
	return &protocol.SetInclusion{Included: true, ContextTargets: protocol.ContextTargets{
		IDs: rapid.SliceOfN(rapid.SampledFrom(ids), 1, 4).Draw(t, "returning")}}
}

// removed returns the ids of the items that can return to the list, and of one that cannot.
func (e *explorer) removed() (ids []string) {
	m, refused := e.checker.context.model, false
	for place, item := range m.items {
		switch {
		case item.listed():
		case m.returnable(place):
			ids = append(ids, item.id)
		case !refused:
			ids, refused = append(ids, item.id), true
		}
	}
	return ids
}

// returnable reports whether an include brings back an item that is not in the list. It has to be deleted, or
// hidden by a trim or a compaction that is in force.
func (m *contextModel) returnable(place int) bool {
	i := &m.items[place]
	if i.tells(reminderHead) || i.hidden && i.of > 0 {
		return false
	}
	if !i.hidden {
		return i.deleted
	}
	for _, e := range m.journal {
		if e.op == protocol.EditRevert && !e.undone && i.ordinal >= e.from && i.ordinal < e.line {
			return false
		}
	}
	points, _ := m.points()
	for k, e := range slices.Backward(m.journal) {
		voided := e.point != "" && e.op != protocol.EditSummarize &&
			!slices.ContainsFunc(points, func(p modelPoint) bool { return p.edit == k })
		if !e.undone && !voided && place < len(e.after) && e.after[place].hidden && !e.before[place].hidden {
			return e.op == protocol.EditTrim || e.op == protocol.EditCompact
		}
	}
	return false
}

// half returns the place of the other half of a call or an output, among the items that are not hidden or can
// return, or -1.
func (m *contextModel) half(place int) int {
	var same []int
	for k, i := range m.items {
		if i.callID == m.items[place].callID && i.callID != "" && (!i.hidden || m.returnable(k)) {
			same = append(same, k)
		}
	}
	at := slices.Index(same, place)
	if at < 0 {
		return -1
	}
	other := at + 1
	if m.items[place].isOutput() {
		other = at - 1
	}
	if other < 0 || other == len(same) || m.items[same[other]].isOutput() == m.items[place].isOutput() {
		return -1
	}
	return same[other]
}

// toInclude returns the ids of the items that an include changes, in order, each once. returns is set if one of
// them is not in the list.
func (w *contextChecker) toInclude(named *protocol.ContextTargets) (ids []string, returns bool, ignored int,
	kind protocol.Kind) {
	m := w.model
	ids, ignored, kind = w.targets(named, false, func(i modelItem) bool { return i.excluded })
	for _, id := range named.IDs {
		place := m.place(id)
		if kind != "" || place < 0 || m.items[place].listed() {
			continue
		}
		if !m.returnable(place) {
			return nil, false, 0, protocol.KindNotReturnable
		}
		ids, returns, ignored = append(ids, id), true, ignored-1
		if half := m.half(place); half >= 0 && !m.items[half].listed() {
			ids = append(ids, m.items[half].id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(m.place(a), m.place(b)) })
	return slices.Compact(ids), returns, ignored, kind
}
