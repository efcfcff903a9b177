package history

import (
	"slices"

	"appserver/protocol"
)

// Turns selects turns: it returns a function that reports whether a turn is in the range. The function
// receives "" for items that belong to no turn.
type Turns func(*protocol.PruneRange) (selected func(turnID string) bool, err *protocol.Error)

// Plan returns the effect of an operation now.
func (h *History) Plan(operation protocol.ContextOperationVariant, turns Turns) (Plan, *protocol.Error) {
	h.dropStaleCounts()
	return planOf(operation, selection{h, turns})
}

// selection is the selector of a history.
type selection struct {
	*History
	turns Turns
}

// Encode returns the line of a planned edit, with the items that change as well: the deletion of a call also deletes
// its present output, and a call and its output return to the list together. The revision and the saved tokens are not
// set.
func (h *History) Encode(p Plan) protocol.StoredContextEdit {
	places := p.Places
	effect, _ := effectOf(p.Op)
	if effect.companions != nil {
		places = effect.companions(selection{History: h}, places)
	}
	e := protocol.StoredContextEdit{Op: p.Op, Text: p.Text, Returns: effect.returns &&
		slices.ContainsFunc(places, func(place int) bool { return !h.Item(place).Listed() })}
	tokens := make([]int64, len(places))
	outputs := false
	for i, place := range places {
		c := h.Item(place)
		e.IDs = append(e.IDs, c.ID())
		if effect.takesOut && c.role == output {
			tokens[i], outputs = h.Cost(place), true
		}
	}
	if outputs {
		e.Tokens = tokens
	}
	return e
}

// targets returns the places of items that a client names, sorted.
func (h *History) targets(named protocol.ContextTargets) (places []int, ignored int, err *protocol.Error) {
	if named.Indices == nil && named.IDs == nil {
		return nil, 0, protocol.InvalidParams("indices", "name the items by `indices` or by `ids`")
	}
	list := h.firstListed(lengthFor(named.Indices, h.Len()))
	for _, index := range named.Indices {
		if index < 0 || index >= int64(len(list)) {
			ignored++
			continue
		}
		places = append(places, list[index])
	}
	for _, id := range named.IDs {
		place, found := h.Find(id)
		if !found || !h.Item(place).Listed() {
			ignored++
			continue
		}
		places = append(places, place)
	}
	return sortedUnique(places), ignored, nil
}

// lengthFor returns the length of a list that has all of the indices below a maximum.
func lengthFor(indices []int64, maximum int) (length int) {
	for _, index := range indices {
		if index < int64(maximum) {
			length = max(length, int(index)+1)
		}
	}
	return length
}

// includable returns the places of the named items that an include changes, sorted: the excluded ones, and
// those that it can bring back into the list.
func (h *History) includable(named protocol.ContextTargets) (places []int, ignored int, err *protocol.Error) {
	places, ignored, err = h.targets(named)
	if err != nil {
		return nil, 0, err
	}
	places = h.filter(places, func(v visibility) bool { return v.excluded })
	for _, id := range named.IDs {
		place, found := h.Find(id)
		if !found || h.Item(place).Listed() {
			continue
		}
		if reason := h.NotReturnable(place); reason != "" {
			return nil, 0, protocol.Refuse(protocol.KindNotReturnable,
				"%s cannot be included again. %s Leave it out, and repeat the edit", id, reason)
		}
		places, ignored = append(places, place), ignored-1
	}
	return sortedUnique(places), ignored, nil
}

// idTargets returns targets with ids in place of indices.
func (h *History) idTargets(named protocol.ContextTargets) protocol.ContextTargets {
	ids := append([]string{}, named.IDs...)
	list := h.Listed()
	for _, index := range named.Indices {
		if index >= 0 && index < int64(len(list)) {
			ids = append(ids, h.Item(list[index]).ID())
		}
	}
	return protocol.ContextTargets{IDs: ids}
}

func (h *History) filter(places []int, matches func(visibility) bool) []int {
	return slices.DeleteFunc(places, func(place int) bool { return !matches(h.Item(place).visibility) })
}

// withOutputs adds the outputs of the calls among places.
func (h *History) withOutputs(places []int) []int {
	all := slices.Clone(places)
	for _, place := range places {
		if c := h.Item(place); c.role == call && c.pair != None && h.at(c.pair).Listed() {
			all = append(all, int(c.pair))
		}
	}
	return sortedUnique(all)
}

// withHalves adds the other halves of the calls and outputs among places that are not in the list.
func (h *History) withHalves(places []int) []int {
	all := slices.Clone(places)
	for _, place := range places {
		if half := h.ReturningHalf(place); half != None {
			all = append(all, half)
		}
	}
	return sortedUnique(all)
}

// prunable returns the places of the items that a prune excludes. Pinned items, and calls with a pinned
// output, stay.
func (h selection) prunable(p *protocol.Prune) ([]int, *protocol.Error) {
	selected, err := h.selects(p.Range, h.turns)
	if err != nil {
		return nil, err
	}
	var places []int
	for _, i := range h.sortedShown() {
		c := h.Item(i)
		if !c.Kept() || !selected(i) || h.IsPinned(c) {
			continue
		}
		if slices.Contains(p.Categories, h.Category(i)) {
			places = append(places, i)
		}
	}
	return places, nil
}

// selects returns a function that reports whether a range has the item at a place.
func (h *History) selects(r *protocol.PruneRange, turns Turns) (selected func(place int) bool, err *protocol.Error) {
	if r != nil && r.Word == protocol.RangeKeepLastOutputs {
		before := h.beforeLastOutputs(int(r.Count))
		return func(place int) bool { return before[place] }, nil
	}
	inTurn, err := turns(r)
	return func(place int) bool { return inTurn(h.Item(place).turnID) }, err
}

// beforeLastOutputs returns the places before the last n outputs that are kept: all that are not hidden if n is 0,
// none if there are no more outputs. The calls of these outputs are not among them, because an output is sent with its
// call only.
func (h *History) beforeLastOutputs(n int) map[int]bool {
	var outputs []int
	for place := range h.Shown() {
		if c := h.Item(place); c.role == output && c.Kept() {
			outputs = append(outputs, place)
		}
	}
	before := map[int]bool{}
	if n > 0 && n >= len(outputs) {
		return before
	}
	last := outputs[len(outputs)-n:]
	for place := range h.Shown() {
		if n > 0 && place == last[0] {
			break
		}
		before[place] = true
	}
	for _, place := range last {
		delete(before, int(h.Item(place).pair))
	}
	return before
}

// replaceable returns the place of the item that a replace names.
func (h *History) replaceable(r *protocol.Replace) (place int, err *protocol.Error) {
	if (r.Index == nil) == (r.ID == nil) {
		return None, protocol.InvalidParams("index", "name the item by `index` or by `id`")
	}
	var named protocol.ContextTargets
	if r.ID != nil {
		named.IDs = []string{*r.ID}
	} else {
		named.Indices = []int64{*r.Index}
	}
	places, _, err := h.targets(named)
	switch {
	case err != nil:
		return None, err
	case len(places) == 0:
		return None, protocol.Refuse(protocol.KindItemNotFound,
			"there is no such item in the context: read it again with context/getItems")
	case !h.Item(places[0]).isReplaceable():
		return None, protocol.Refuse(protocol.KindNotReplaceable,
			"%s is of category %s: only tool outputs and reasoning can be replaced; exclude it instead",
			h.Item(places[0]).ID(), h.Category(places[0]))
	}
	return places[0], nil
}
