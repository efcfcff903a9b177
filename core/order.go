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
func (h *history) moveBefore(place int) {
	if h.order == nil {
		h.order = make([]int32, len(h.items))
		for i := range h.order {
			h.order[i] = int32(i)
		}
	}
	last := h.order[len(h.order)-1]
	rank := len(h.order) - 1
	for rank > 0 && h.order[rank] != int32(place) { // mostly near the end
		rank--
	}
	h.order = slices.Insert(h.order[:len(h.order)-1], rank, last)
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
