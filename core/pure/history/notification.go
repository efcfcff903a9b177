package history

import (
	"slices"

	"appserver/protocol"
)

// MarkAnnounced records that clients know the present list.
func (h *History) MarkAnnounced() {
	was := h.announced
	h.markAnnounced()
	h.announced.stale, h.announced.repriced = was.stale, was.repriced
}

func (h *History) markAnnounced() {
	n := h.items.Len()
	h.announced = announced{items: n, same: n, destination: h.destination}
}

// MarkStale records that any item may have changed since the last notification.
func (h *History) MarkStale() { h.announced.stale = true }

// MarkRepriced records that the prices of all items may have changed. Clients get the prices of new items at once,
// and those of other items with the next update that is not only for new ones.
func (h *History) MarkRepriced() { h.announced.repriced = true }

// MarkStaleFrom records that the items from a place on may have changed since the last notification.
func (h *History) MarkStaleFrom(place int) { h.announced.same = min(h.announced.same, place) }

// Update is the difference between the list and the one that clients know.
type Update struct {
	// All is set if every item may have changed. Places is empty then.
	All bool
	// Places has the changed items, sorted. Items from Added on are new.
	Places []int
	Added  int
	// removed are the ids of the items that left the list.
	removed     []string
	destination Destination
}

// TakeUpdate returns the difference since the last notification. changes has the changes of all edits since
// then. Afterwards clients are expected to know the list.
func (h *History) TakeUpdate(changes []Change) Update {
	u := h.newItems()
	u.All = u.All || h.announced.repriced || changesHidden(changes) // hiding changes pairs
	if !u.All {
		u.Places, u.removed = sortedUnique(append(u.Places, h.affected(changes)...)), h.removedIDs(changes)
	}
	h.markAnnounced()
	return u
}

// TakeNewItems returns the new items since the last notification and the older ones that they change. It returns
// false if there are none. Edits and new prices stay for TakeUpdate.
func (h *History) TakeNewItems() (u Update, ok bool) {
	n := h.items.Len()
	if h.announced.items == n && h.announced.same == n && !h.announced.stale {
		return u, false
	}
	u = h.newItems()
	repriced := h.announced.repriced && !u.All
	h.markAnnounced()
	h.announced.repriced = repriced
	return u, true
}

// newItems returns an update with the new items. All is set if any item may have changed, or if the next request has
// another recipient.
func (h *History) newItems() Update {
	u := Update{Added: h.announced.items, destination: h.destination}
	moved := h.announced.items > 0 && h.announced.destination != h.destination
	if u.All = h.announced.stale || moved; u.All {
		return u
	}
	if u.Added < h.items.Len() {
		u.Places = h.reasoningBefore(u.Added)
	}
	for place := h.announced.same; place < u.Added; place++ {
		u.Places = append(u.Places, place)
	}
	u.Places = sortedUnique(u.Places)
	return u
}

// reasoningBefore returns the places of the reasoning in the answer that an item at a place continues. It is sent only
// with what follows it.
func (h *History) reasoningBefore(place int) (places []int) {
	for place--; place >= 0 && !h.Item(place).endsAnswer(); place-- {
		if h.Item(place).reasoning {
			places = append(places, place)
		}
	}
	return places
}

// removedIDs returns the ids of the items that left the list with changes or with their undo.
func (h *History) removedIDs(changes []Change) (ids []string) {
	seen := map[int32]bool{}
	for _, c := range changes {
		was, item := c.before, h.at(c.place)
		if was == item.visibility {
			was = c.after
		}
		left := !was.hidden && !was.deleted && !item.Listed()
		if left && int(c.place) < h.announced.items && !seen[c.place] {
			seen[c.place] = true
			ids = append(ids, item.ID())
		}
	}
	return ids
}

// Notification returns the whole list for clients. The thread's id and the usage are not set.
func (h *History) Notification() protocol.ContextItemsNotification {
	places := h.Listed()
	n := h.notification(places)
	n.Items, n.Full = h.views(places, 0), true
	return n
}

// UpdateNotification returns the changed items only, for clients that keep the list. It must be built
// before the next edit.
func (h *History) UpdateNotification(u Update) protocol.ContextItemsNotification {
	if u.All || u.destination != h.destination {
		return h.Notification()
	}
	places := h.Listed()
	n := h.notification(places)
	newInstructions := h.lastInstructions() >= u.Added
	for index, place := range places {
		_, changed := slices.BinarySearch(u.Places, place)
		if changed || place >= u.Added || newInstructions && h.isSuperseded(place) {
			n.Items = append(n.Items, h.view(index, place))
		}
	}
	n.RemovedIDs = append(n.RemovedIDs, u.removed...)
	return n
}

func (h *History) notification(places []int) protocol.ContextItemsNotification {
	return protocol.ContextItemsNotification{
		Revision: h.revision, Total: len(places), Items: []protocol.ContextItem{}, RemovedIDs: []string{},
	}
}
