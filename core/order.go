package core

import (
	"iter"
	"slices"
)

// inOrder gives the places of the items in the order in which they are listed and sent:
// that in which they joined, but for summaries, which stand before what they were put
// before.
func (h *history) inOrder() iter.Seq[int] {
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

// appendOrder gives the item that joined last the last rank.
func (h *history) appendOrder() {
	if h.order != nil {
		h.order = append(h.order, int32(len(h.items)-1))
	}
}

// moveBefore moves the item that joined last before another one.
func (h *history) moveBefore(place int) { h.move(int32(len(h.items)-1), int32(place)) }

// move moves an item directly before another one, or to the end if that is none. It reports
// whether that changed the order.
func (h *history) move(place, before int32) bool {
	rank, end := h.rank(place), len(h.items)
	if next := rank + 1; next == end && before == none || next < end && before != none && h.placeAt(next) == before {
		return false
	}
	if h.order == nil {
		h.order = make([]int32, len(h.items))
		for i := range h.order {
			h.order[i] = int32(i)
		}
	}
	h.order = slices.Delete(h.order, rank, rank+1)
	if before != none {
		end = h.rank(before)
	}
	h.order = slices.Insert(h.order, min(end, len(h.order)), place)
	return true
}

// rank returns where an item is in the order.
func (h *history) rank(place int32) int {
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
func (h *history) placeAt(rank int) int32 {
	if h.order == nil {
		return int32(rank)
	}
	return h.order[rank]
}

// before are the items that come before a place, in order; all where it is none.
func (h *history) before(place int) []int {
	var places []int
	for i := range h.inOrder() {
		if i == place {
			break
		}
		places = append(places, i)
	}
	return places
}
