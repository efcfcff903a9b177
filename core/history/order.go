package history

import (
	"iter"
	"slices"
)

// InOrder returns the places of all items in the order in which items are listed and sent. That is
// the order in which they joined, except for summaries and the reminder, which are moved.
func (h *History) InOrder() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range h.items {
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
	if place >= 0 && place < len(h.items) && h.items[place].visibility.hidden {
		all = h.InOrder()
	}
	var places []int
	for i := range all {
		if i == place {
			break
		}
		if !h.items[i].visibility.hidden {
			places = append(places, i)
		}
	}
	return places
}

// appendOrder ranks the item that joined last after all others.
func (h *History) appendOrder() {
	if h.order != nil {
		h.order = append(h.order, int32(len(h.items)-1))
	}
}

// move moves an item directly before another one, or to the end if that is None. It reports whether
// the order changed.
func (h *History) move(place, before int32) bool {
	rank, end := h.rank(place), len(h.items)
	if next := rank + 1; next == end && before == None || next < end && before != None && h.placeAt(next) == before {
		return false
	}
	if h.order == nil {
		h.order = make([]int32, len(h.items))
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
