package history

import (
	"iter"
	"slices"
)

// InOrder returns the places of all items in the order in which items are listed and sent. That is
// the order in which they joined, except for summaries and reminders, which are moved.
func (h *History) InOrder() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range h.items.Len() {
			if h.order != nil {
				i = int(h.order[i])
			}
			if !yield(i) {
				return
			}
		}
	}
}

// Before returns the places of the items before a place that are not hidden, in order, or all of them if it is None.
func (h *History) Before(place int) []int {
	all := h.Shown()
	if place >= 0 && place < h.items.Len() && h.Item(place).visibility.hidden {
		all = h.InOrder()
	}
	var places []int
	for i := range all {
		if i == place {
			break
		}
		if !h.Item(i).visibility.hidden {
			places = append(places, i)
		}
	}
	return places
}

// appendOrder ranks the item that joined last after all others.
func (h *History) appendOrder() {
	if h.order != nil {
		h.order = append(h.order, int32(h.items.Len()-1))
	}
}

// move moves an item directly before another one, or to the end if that is None. It reports whether
// the order changed.
func (h *History) move(place, before int32) bool {
	rank, end := h.rank(place), h.items.Len()
	if next := rank + 1; next == end && before == None || next < end && before != None && h.placeAt(next) == before {
		return false
	}
	if h.order == nil {
		h.order = make([]int32, h.items.Len())
		for i := range h.order {
			h.order[i] = int32(i)
		}
	}
	h.order = slices.Delete(h.order, rank, rank+1)
	if before != None {
		end = h.rank(before)
	}
	h.order = slices.Insert(h.order, min(end, len(h.order)), place)
	h.moveShown(place, before)
	return true
}

// rank returns the index of an item in the order.
func (h *History) rank(place int32) int {
	if h.order == nil {
		return int(place)
	}
	rank := len(h.order) - 1
	for rank > 0 && h.order[rank] != place { // mostly near the end
		rank--
	}
	return rank
}

// placeAt returns the item with a rank.
func (h *History) placeAt(rank int) int32 {
	if h.order == nil {
		return int32(rank)
	}
	return h.order[rank]
}

// shown has the items that are not hidden. Compactions and trims hide most items of a long thread, so requests walk
// over this list only.
//
// The list is brought up to date when it is read: edits that are simulated and reverted cost nothing. It is replaced
// rather than changed, except for items that join at its end, so a reader may edit while it goes through the list.
type shown struct {
	// places are in the order in which items are sent.
	places []int32
	// changed are the places of items that were hidden or brought back since, perhaps several times.
	changed []int32
	// stale is set if places must be made from all items.
	stale bool
}

// Shown returns the places of the items that are not hidden, in the order in which items are listed and sent.
func (h *History) Shown() iter.Seq[int] {
	h.updateShown()
	places := h.shown.places
	return func(yield func(int) bool) {
		for _, place := range places {
			if !yield(int(place)) {
				return
			}
		}
	}
}

// shownAnd returns other places and those of the items that are not hidden, sorted.
func (h *History) shownAnd(others iter.Seq[int32]) []int32 {
	h.updateShown()
	places := slices.AppendSeq(slices.Clone(h.shown.places), others)
	slices.Sort(places)
	return slices.Compact(places)
}

// sortedShown returns the places of the items that are not hidden, sorted.
func (h *History) sortedShown() []int {
	return slices.Sorted(h.Shown())
}

// updateShown updates the list of the items that are not hidden.
func (h *History) updateShown() {
	s := &h.shown
	if !s.stale && len(s.changed) == 0 {
		return
	}
	hidden := func(place int32) bool { return h.at(place).visibility.hidden }
	back := slices.DeleteFunc(s.changed, hidden)
	switch {
	case s.stale, len(back) > 0 && h.order != nil:
		s.places = nil
		for place := range h.InOrder() {
			if !hidden(int32(place)) {
				s.places = append(s.places, int32(place))
			}
		}
	case len(back) > 0:
		s.places = slices.Concat(s.places, back)
		slices.Sort(s.places)
		s.places = slices.DeleteFunc(slices.Compact(s.places), hidden)
	default:
		s.places = slices.DeleteFunc(slices.Clone(s.places), hidden)
	}
	s.changed, s.stale = nil, false
}

// moveShown moves an item directly before another one, or to the end if that is None.
func (h *History) moveShown(place, before int32) {
	if h.at(place).visibility.hidden {
		return
	}
	h.updateShown()
	s := &h.shown
	places := slices.DeleteFunc(slices.Clone(s.places), func(p int32) bool { return p == place })
	at := len(places)
	if before != None {
		at = slices.Index(places, before)
	}
	if at < 0 { // the other one is hidden
		s.stale = true
		return
	}
	s.places = slices.Insert(places, at, place)
}
