package core

import (
	"slices"

	"appserver/protocol"
)

// plan is an edit before it is made: what it does, the places of the items, and how many
// targets are no items.
type plan struct {
	op      string
	text    *string
	places  []int
	ignored int
}

// plan works out what an operation changes now. A plan without places changes nothing.
func (t *Thread) plan(operation protocol.ContextOperationVariant) (p plan, err *protocol.Error) {
	t.recount()
	switch o := operation.(type) {
	case *protocol.SetInclusion:
		p.op = choose(o.Included, protocol.EditInclude, protocol.EditExclude)
		p.places, p.ignored, err = t.targets(o.ContextTargets)
		p.places = t.where(p.places, func(f fate) bool { return f.excluded == o.Included })
	case *protocol.PruneByIndices:
		p.op = protocol.EditDelete
		p.places, p.ignored, err = t.targets(o.ContextTargets)
	case *protocol.Prune:
		p.op = protocol.EditPrune
		p.places, err = t.prunable(o)
	case *protocol.Pin:
		p.op = choose(o.Pinned, protocol.EditPin, protocol.EditUnpin)
		p.places, p.ignored, err = t.targets(o.ContextTargets)
		p.places = t.where(p.places, func(f fate) bool { return f.pinned != o.Pinned })
	case *protocol.Replace:
		p.op, p.text = protocol.EditReplace, &o.Text
		p.places, err = t.toReplace(o)
	}
	return p, err
}

func choose[T any](yes bool, one, other T) T {
	if yes {
		return one
	}
	return other
}

// targets are the places of items that a client names, in order, each once.
func (t *Thread) targets(named protocol.ContextTargets) (places []int, ignored int, err *protocol.Error) {
	if named.Indices == nil && named.IDs == nil {
		return nil, 0, protocol.InvalidParams("indices", "name the items by `indices` or by `ids`")
	}
	list := t.list()
	for _, index := range named.Indices {
		if index < 0 || index >= int64(len(list)) {
			ignored++
			continue
		}
		places = append(places, list[index])
	}
	for _, id := range named.IDs {
		place, found := t.find(id)
		if !found || !t.items[place].listed() {
			ignored++
			continue
		}
		places = append(places, place)
	}
	slices.Sort(places)
	return slices.Compact(places), ignored, nil
}

// where are those of the places whose items have a fate like this.
func (t *Thread) where(places []int, like func(fate) bool) []int {
	return slices.DeleteFunc(places, func(place int) bool { return !like(t.items[place].fate) })
}

// withOutputs are the places, and those of the outputs of calls among them.
func (t *Thread) withOutputs(places []int) []int {
	all := slices.Clone(places)
	for _, place := range places {
		if c := &t.items[place]; c.role == aCall && c.pair != none && t.items[c.pair].listed() {
			all = append(all, int(c.pair))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// prunable are the items that a prune excludes: those that are pinned, and calls whose
// outputs are, stay.
func (t *Thread) prunable(p *protocol.Prune) ([]int, *protocol.Error) {
	first, end, err := t.turnRange(p.Range)
	if err != nil {
		return nil, err
	}
	var places []int
	for i := range t.items {
		c := &t.items[i]
		turn := t.turnNumber(c.turnID)
		if !c.kept() || turn < first || turn >= end || t.isPinned(c) {
			continue
		}
		if slices.Contains(p.Categories, t.describe(i).category) {
			places = append(places, i)
		}
	}
	return places, nil
}

func (h *history) isPinned(c *contextItem) bool {
	return c.fate.pinned || c.role == aCall && c.pair != none && h.items[c.pair].listed() && h.items[c.pair].fate.pinned
}

// turnNumber is the place of a turn, -1 for what came before the first one.
func (l *log) turnNumber(id string) int {
	if i, ok := l.turnAt[id]; ok {
		return i
	}
	return -1
}

// turnRange are the turns that a range takes in, as the first and the one behind the
// last. What came before the first turn goes with it.
func (l *log) turnRange(r *protocol.PruneRange) (first, end int, err *protocol.Error) {
	switch {
	case r == nil || r.Word == protocol.RangeAll || r.Word == "" || r.Word == protocol.RangeKeepLastTurns && r.Count == 0:
		return -1, len(l.turns), nil
	case r.Word == protocol.RangeFirstTurns && r.Count > 0:
		return -1, min(int(r.Count), len(l.turns)), nil
	case r.Word == protocol.RangeKeepLastTurns && int(r.Count) < len(l.turns):
		return -1, len(l.turns) - int(r.Count), nil
	case r.Word != protocol.RangeBeforeTurn:
		return 0, 0, nil
	}
	turn, known := l.turnAt[r.TurnID]
	if !known {
		return 0, 0, protocol.InvalidParams("range.beforeTurnId", "there is no turn %s in this thread", r.TurnID)
	}
	return -1, turn, nil
}

// toReplace is the one item that a replace names, or none where it has the text.
func (t *Thread) toReplace(r *protocol.Replace) ([]int, *protocol.Error) {
	if (r.Index == nil) == (r.ID == nil) {
		return nil, protocol.InvalidParams("index", "name the item by `index` or by `id`")
	}
	var named protocol.ContextTargets
	if r.ID != nil {
		named.IDs = []string{*r.ID}
	} else {
		named.Indices = []int64{*r.Index}
	}
	places, _, err := t.targets(named)
	switch {
	case err != nil:
		return nil, err
	case len(places) == 0:
		return nil, protocol.Refuse(protocol.KindItemNotFound, "there is no such item in the context: read it again with context/getItems")
	case !t.items[places[0]].replaceable():
		return nil, protocol.Refuse(protocol.KindNotReplaceable, "%s is of category %s: only tool outputs and reasoning can be replaced; exclude it instead",
			t.items[places[0]].id(), t.describe(places[0]).category)
	}
	return t.where(places, func(f fate) bool { return f.text == nil || *f.text != r.Text }), nil
}

// line is the line of a planned edit: the ids, and what the placeholders say. Deleted calls
// take the outputs along that they have now.
func (t *Thread) line(p plan) protocol.StoredContextEdit {
	places := p.places
	if p.op == protocol.EditDelete {
		places = t.withOutputs(places)
	}
	e := protocol.StoredContextEdit{Op: p.op, Text: p.text}
	takesOut := p.op == protocol.EditExclude || p.op == protocol.EditPrune || p.op == protocol.EditMask || p.op == protocol.EditDelete
	tokens := make([]int64, len(places))
	outputs := false
	for i, place := range places {
		c := &t.items[place]
		e.IDs = append(e.IDs, c.id())
		if takesOut && c.role == anOutput {
			tokens[i], outputs = t.describe(place).price(t.scale()), true
		}
	}
	if outputs {
		e.Tokens = tokens
	}
	return e
}
