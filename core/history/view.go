package history

import (
	"iter"
	"slices"

	"appserver/protocol"
)

// Page returns a part of the list of context items and the length of the list. cursor is the id of the
// last item of the page before, or nil; that item need not be listed any more. A nil limit, or 0, is no
// limit. next is the cursor of the next page, or nil.
func (h *History) Page(
	cursor *string,
	limit *uint32,
) (items []protocol.ContextItem, total int, next *string, err *protocol.Error) {
	places := h.Listed()
	total = len(places)
	index := 0
	if cursor != nil {
		last, found := h.Find(*cursor)
		if !found {
			return nil, 0, nil, protocol.InvalidParams("cursor",
				"invalid cursor: %s (use the nextCursor of the page before)", *cursor)
		}
		index = h.listedUpTo(last)
	}
	places = places[index:]
	if limit != nil && *limit > 0 && int(*limit) < len(places) {
		places = places[:*limit]
		next = new(h.Item(places[len(places)-1]).ID())
	}
	return h.views(places, index), total, next, nil
}

// views returns items as clients see them. index is the position in the list of the first one.
func (h *History) views(places []int, index int) []protocol.ContextItem {
	h.describeAll(slices.Values(places))
	items := make([]protocol.ContextItem, len(places))
	for i, place := range places {
		items[i] = h.view(index+i, place)
	}
	return items
}

// view returns an item as clients see it. The pointers of the view point into the history, whose texts
// never change.
func (h *History) view(index, place int) protocol.ContextItem {
	c, about, reason := h.Item(place), h.describe(place), h.NotSent(place)
	v := protocol.ContextItem{
		Index: index, ID: about.id, Category: about.category, Preview: about.preview,
		Included: !c.visibility.excluded, InPrompt: reason == "", NotSentReason: reason,
		Pinned: c.visibility.pinned, Replaced: c.visibility.text != nil, Superseded: h.isSuperseded(place),
		Tokens: about.price(h.Scale()), Bytes: about.bytes,
		TurnID: present(&c.turnID), CallID: present(&c.callID), ItemID: present(&about.itemID),
	}
	if shown := c.userItemID; shown != "" {
		v.ItemID = new(shown)
	}
	if tool := h.toolOf(place); *tool != "" {
		v.ToolName = tool
		if h.options.ShowsCall != nil && h.options.ShowsCall(*tool) {
			v.ItemID = v.CallID
		}
	}
	return v
}

// present returns nil for an empty text.
func present(text *string) *string {
	if *text == "" {
		return nil
	}
	return text
}

// toolOf returns the tool of a call or of an output's call. The text is empty for other items.
func (h *History) toolOf(place int) *string {
	c := h.Item(place)
	if c.role == output && c.pair != None {
		place = int(c.pair)
	}
	return &h.describe(place).tool
}

// announced is the state of the list that clients were last notified of.
type announced struct {
	items       int
	destination Destination
	// stale is set if any item may have changed since, reordered if the reminder was moved.
	stale, reordered bool
}

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
	u.All = h.announced.stale || h.announced.reordered || changesHidden(changes) || moved // hiding changes pairs
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

// Removed is an item that left the prompt.
type Removed struct {
	Place int
	// Item has the text that it had in the prompt.
	Item protocol.ResponseItem
}

// RemovedBy returns the items of the conversation that left the prompt with changes or with their
// undo, the newest first. Summaries and notices are not among them.
func (h *History) RemovedBy(changes []Change) iter.Seq[Removed] {
	return func(yield func(Removed) bool) { h.yieldRemoved(changes, yield) }
}

func (h *History) yieldRemoved(changes []Change, yield func(Removed) bool) {
	seen := map[int32]bool{}
	for _, c := range slices.Backward(changes) {
		item, was := h.at(c.place), c.before
		if item.visibility == c.before {
			was = c.after // the edit was undone
		}
		if seen[c.place] || item.Kept() || item.IsUnsentCompaction() || was.hidden || was.deleted || was.excluded ||
			item.summary || item.IsNotice() {
			continue
		}
		seen[c.place] = true
		r := Removed{int(c.place), item.Decode()}
		if was.text != nil {
			r.Item = WithText(r.Item, *was.text)
		}
		if !yield(r) {
			return
		}
	}
}
