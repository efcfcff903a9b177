package history

import (
	"slices"

	"appserver/protocol"
)

// MarkAnnounced records that clients know the present list.
func (h *History) MarkAnnounced() {
	h.announced.items, h.announced.destination = h.items.Len(), h.destination
}

// MarkStale records that any item may have changed since the last notification.
func (h *History) MarkStale() { h.announced.stale = true }

// WasAnnounced reports whether the item at a place is older than the last notification.
func (h *History) WasAnnounced(place int) bool { return place < h.announced.items }

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
	u := Update{Added: h.announced.items, destination: h.destination}
	moved := h.announced.items > 0 && h.announced.destination != h.destination
	u.All = h.announced.stale || changesHidden(changes) || moved // hiding changes pairs
	if !u.All {
		u.Places, u.removed = h.affected(changes), h.removedIDs(changes)
	}
	h.announced = announced{items: h.items.Len(), destination: h.destination}
	return u
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
