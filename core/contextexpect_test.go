package core_test

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/protocol"
)

// expectation is the expected result of an edit.
type expectation struct {
	// kind is the kind of an error, or "".
	kind             protocol.Kind
	changed, ignored int
	undone           int64
	// lines is set if the revision increases.
	lines bool
	// make changes the model.
	make func()
}

// expect works out what is to come of an input, before its edit is made.
func (w *contextChecker) expect(m *machine, in core.Input, out core.Output) expectation {
	e := expectation{make: func() { w.report("%T writes an edit that nobody made", in) }}
	var expected *int64
	switch in := in.(type) {
	case core.EditContext:
		expected = in.Expected
		w.expectEdit(m, in.Operation, out, &e)
	case core.UndoContext:
		expected = in.Expected
		e.retrace(w.model.undoable(), protocol.KindNothingToUndo, w.model.undo, w.model)
	case core.RedoContext:
		expected = in.Expected
		e.retrace(w.model.redoable(), protocol.KindNothingToRedo, w.model.redo, w.model)
	case core.RestoreContext:
		expected = in.Expected
		edit := slices.IndexFunc(out.Lines, func(l protocol.RolloutLine) bool { return l.Type == protocol.LineContextEdit })
		after := modelOf(m.lines[:len(m.lines)-len(out.Lines)+max(edit, 0)])
		after.make(&protocol.StoredContextEdit{Op: protocol.EditRestore})
		for k, i := range w.model.items {
			if !after.items[k].hidden && after.items[k].modelVisibility != i.modelVisibility {
				e.changed++
			}
			e.lines = e.lines || after.items[k].modelVisibility != i.modelVisibility
		}
		points, lasting := w.model.points()
		e.lines = e.lines || len(points) > lasting
		w.edit(&e, protocol.StoredContextEdit{Op: protocol.EditRestore})
	case core.SummarizeContext:
		w.expectSummary(out, &e)
	}
	if expected != nil && *expected != w.model.revision {
		return expectation{kind: protocol.KindStaleRevision, make: e.make}
	}
	return e
}

func (e *expectation) retrace(place int, none protocol.Kind, do func(int64), m *contextModel) {
	if place < 0 {
		e.kind = none
		return
	}
	target := m.journal[place].line
	e.undone, e.lines = m.journal[place].revision, true
	e.make = func() {
		m.revision++
		do(target)
	}
}

// edit expects that an edit is made, if it changes anything.
func (w *contextChecker) edit(e *expectation, stored protocol.StoredContextEdit) {
	if e.changed == 0 && !e.lines {
		return
	}
	e.lines = true
	e.make = func() {
		before := w.model.fates()
		places := w.model.make(&stored)
		w.model.revision++
		w.model.enter(stored.Op, before, places)
		if stored.Op == protocol.EditRestore || stored.Returns {
			w.model.pairAgain()
		}
	}
}

func (w *contextChecker) expectEdit(m *machine, o protocol.ContextOperationVariant, out core.Output, e *expectation) {
	row, known := modelOperations()[protocol.ContextMethod(o)]
	if !known {
		w.report("the model of the context has no row for %T: add it to modelOperations", o)
		return
	}
	stored := row.expect(w, m, o, e)
	w.addPlaceholderCosts(&stored, out)
	e.changed = len(stored.IDs)
	w.edit(e, stored)
}

// expectTargets adds the items among named ones that an edit changes, to the expectation and the edit.
func (w *contextChecker) expectTargets(
	named *protocol.ContextTargets, stored *protocol.StoredContextEdit, e *expectation, wants func(modelItem) bool,
) {
	stored.IDs, e.ignored, e.kind = w.targets(named, stored.Op == protocol.EditDelete, wants)
}

// targets returns the ids of the items that a client names, in order, each once.
func (w *contextChecker) targets(named *protocol.ContextTargets, whole bool, wants func(modelItem) bool) (ids []string,
	ignored int, kind protocol.Kind) {
	if named.Indices == nil && named.IDs == nil {
		return nil, 0, protocol.KindInvalidParams
	}
	wanted := map[string]bool{}
	for _, index := range named.Indices {
		if index < 0 || index >= int64(len(w.list)) {
			ignored++
			continue
		}
		wanted[w.list[index].ID] = true
	}
	for _, id := range named.IDs {
		if place := w.model.place(id); place < 0 || !w.model.items[place].listed() {
			ignored++
			continue
		}
		wanted[id] = true
	}
	for _, i := range w.model.items {
		if whole && i.isOutput() && i.call >= 0 && i.listed() && wanted[w.model.items[i.call].id] {
			wanted[i.id] = true
		}
		if wanted[i.id] && wants(i) {
			ids = append(ids, i.id)
		}
	}
	return ids, ignored, ""
}

// prunable returns the ids of the items that a prune excludes.
func (w *contextChecker) prunable(m *machine, p *protocol.Prune) (ids []string, kind protocol.Kind) {
	turns := map[string]int{}
	for n, turn := range m.thread.View(true).Turns {
		turns[turn.ID] = n
	}
	end := len(turns)
	if r := p.Range; r != nil {
		switch r.Word {
		case protocol.RangeFirstTurns:
			if end = min(int(r.Count), end); r.Count == 0 {
				end = -1
			}
		case protocol.RangeKeepLastTurns:
			if end -= int(r.Count); r.Count > 0 && end <= 0 {
				end = -1
			}
		case protocol.RangeBeforeTurn:
			n, known := turns[r.TurnID]
			if !known {
				return nil, protocol.KindInvalidParams
			}
			end = n
		}
	}
	kept := w.keptByOutputs(p.Range)
	for _, i := range w.list {
		turn := -1
		if i.TurnID != nil {
			turn = turns[*i.TurnID]
		}
		item := w.model.items[w.model.place(i.ID)]
		pinned := item.pinned || item.isCall() && item.output >= 0 && w.model.items[item.output].listed() &&
			w.model.items[item.output].pinned
		if turn < end && !kept[i.ID] && i.Included && !pinned && slices.Contains(p.Categories, i.Category) {
			ids = append(ids, i.ID)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return w.model.place(a) - w.model.place(b) })
	return ids, ""
}

// keptByOutputs returns the ids of what a range by outputs keeps: all from the first of the last included
// outputs on, and the calls of these outputs. It keeps all if there are no more outputs.
func (w *contextChecker) keptByOutputs(r *protocol.PruneRange) map[string]bool {
	kept := map[string]bool{}
	if r == nil || r.Word != protocol.RangeKeepLastOutputs || r.Count == 0 {
		return kept
	}
	left := int(r.Count)
	for n := len(w.list) - 1; n >= 0; n-- {
		item := w.model.items[w.model.place(w.list[n].ID)]
		counts := item.isOutput() && w.list[n].Included
		switch {
		case counts && left == 0:
			return kept
		case left > 0:
			kept[w.list[n].ID] = true
		}
		if counts {
			left--
		}
		if counts && item.call >= 0 {
			kept[w.model.items[item.call].id] = true
		}
	}
	for _, i := range w.list {
		kept[i.ID] = true
	}
	return kept
}

func (w *contextChecker) toReplace(r *protocol.Replace) (ids []string, kind protocol.Kind) {
	named := protocol.ContextTargets{}
	switch {
	case (r.Index == nil) == (r.ID == nil):
		return nil, protocol.KindInvalidParams
	case r.ID != nil:
		named.IDs = []string{*r.ID}
	default:
		named.Indices = []int64{*r.Index}
	}
	ids, ignored, _ := w.targets(&named, false, func(modelItem) bool { return true })
	if ignored > 0 {
		return nil, protocol.KindItemNotFound
	}
	item := w.model.items[w.model.place(ids[0])]
	category := w.list[slices.IndexFunc(w.list, func(i protocol.ContextItem) bool { return i.ID == ids[0] })].Category
	switch {
	case category != protocol.CategoryReasoning && category != protocol.CategoryToolOutput:
		return nil, protocol.KindNotReplaceable
	case item.replaced && item.text == r.Text:
		return nil, ""
	}
	return ids, ""
}

// addPlaceholderCosts adds the costs in the placeholders of outputs, as the list has them. The list
// does not have those of items of the same step yet.
func (w *contextChecker) addPlaceholderCosts(e *protocol.StoredContextEdit, out core.Output) {
	if e.Op != protocol.EditExclude && e.Op != protocol.EditPrune && e.Op != protocol.EditDelete {
		return
	}
	outputs := false
	tokens := make([]int64, len(e.IDs))
	for k, id := range e.IDs {
		i := w.model.items[w.model.place(id)]
		if i.isOutput() {
			outputs = true
			if at := slices.IndexFunc(w.list, func(i protocol.ContextItem) bool { return i.ID == id }); at >= 0 {
				tokens[k] = w.list[at].Tokens
			} else {
				tokens[k] = gjson.GetBytes(out.Lines[len(out.Lines)-1].Payload, fmt.Sprintf("tokens.%d", k)).Int()
			}
		}
	}
	if outputs {
		e.Tokens = tokens
	}
}

// checkAnswer checks the answer to an edit.
func (w *contextChecker) checkAnswer(in core.Input, out core.Output, e expectation) {
	switch in.(type) {
	case core.EditContext, core.UndoContext, core.RedoContext, core.RestoreContext:
	default:
		return
	}
	if e.lines && !out.Sync {
		w.report("an edit is told before it is on disk")
	}
	for _, message := range out.Messages {
		switch message := message.(type) {
		case core.Refusal:
			if message.Err.Data.Kind != e.kind || len(out.Lines) > 0 {
				w.report("%T is refused as %s, not %q, with %d lines", in, message.Err.Data.Kind, e.kind, len(out.Lines))
			}
		case core.Reply:
			p := gjson.Parse(encode(message.Result))
			right := e.kind == ""
			for member, want := range map[string]int64{
				"revision": w.model.revision, "changed": int64(e.changed), "removed": int64(e.changed),
				"restored": int64(e.changed),
				"ignored":  int64(e.ignored), "undone.revision": e.undone, "redone.revision": e.undone,
			} {
				right = right && (!p.Get(member).Exists() || p.Get(member).Int() == want)
			}
			if !right {
				w.report("%T is answered %s, not %+v", in, p.Raw, e)
			}
		}
	}
}
