package core

import (
	"slices"

	"appserver/protocol"
)

// ContextItems is the list of context items, as clients are told it after a change.
func (t *Thread) ContextItems() protocol.ContextItemsNotification {
	places := t.list()
	n := t.contextNotification(places)
	n.Items, n.Full = t.views(places, 0), true
	return n
}

// ContextChanges is the same for clients that keep the list: what has changed of it.
func (t *Thread) ContextChanges(c ContextChanged) protocol.ContextItemsNotification {
	if c.All || c.to != t.destination() {
		return t.ContextItems()
	}
	places := t.list()
	n := t.contextNotification(places)
	instructed := t.lastInstructions() >= c.New
	for index, place := range places {
		_, changed := slices.BinarySearch(c.Places, place)
		if changed || place >= c.New || instructed && t.isSuperseded(place) {
			n.Items = append(n.Items, t.view(index, place))
		}
	}
	n.RemovedIDs = append(n.RemovedIDs, c.Removed...)
	return n
}

func (t *Thread) contextNotification(places []int) protocol.ContextItemsNotification {
	return protocol.ContextItemsNotification{
		ThreadID: t.id, Revision: t.revision, Total: len(places),
		Items: []protocol.ContextItem{}, RemovedIDs: []string{}, Usage: t.contextUsage(),
	}
}

// views are the items at these places; the first of them has the index.
func (t *Thread) views(places []int, index int) []protocol.ContextItem {
	t.recount()
	items := make([]protocol.ContextItem, len(places))
	for i, place := range places {
		items[i] = t.view(index+i, place)
	}
	return items
}

// view shows an item. Its texts are those of the history, which never change.
func (t *Thread) view(index, place int) protocol.ContextItem {
	c, about, why := &t.items[place], t.describe(place), t.notSent(place)
	v := protocol.ContextItem{
		Index: index, ID: about.id, Category: about.category, Preview: about.preview,
		Included: !c.fate.excluded, InPrompt: why == "", NotSentReason: why, Pinned: c.fate.pinned, Replaced: c.fate.text != nil,
		Superseded: t.isSuperseded(place),
		Tokens:     about.price(t.scale()), Bytes: about.bytes,
		TurnID: present(&c.turnID), CallID: present(&c.callID), ItemID: present(&about.itemID),
	}
	if shown := t.shownAs[int32(place)]; shown != "" {
		v.ItemID = new(shown)
	}
	if tool := t.toolOf(place); *tool != "" {
		v.ToolName = tool
		if shellNames[*tool] || *tool == patchTool.Name {
			v.ItemID = v.CallID
		}
	}
	return v
}

// isSuperseded reports whether a later message replaces or ends the instructions of this one.
func (t *Thread) isSuperseded(place int) bool {
	return t.items[place].tells == theInstructions && place < t.lastInstructions()
}

// lastInstructions returns the place of the instructions from AGENTS.md files that joined last, or
// of the message that ended them; none without one. Whether the user excludes it does not count: the
// earlier ones are not those of the working directory either way.
func (h *history) lastInstructions() int {
	for place := len(h.items) - 1; place >= 0; place-- {
		if c := &h.items[place]; c.tells == theInstructions && !c.fate.hidden {
			return place
		}
	}
	return none
}

// present is nil for an empty text.
func present(text *string) *string {
	if *text == "" {
		return nil
	}
	return text
}

// toolOf is the tool of a call, or of an output's call; "" for other items.
func (t *Thread) toolOf(place int) *string {
	c := &t.items[place]
	if c.role == anOutput && c.pair != none {
		place = int(c.pair)
	}
	return &t.describe(place).tool
}

// page is the part of the list behind the cursor, which is the id of the last item of
// the page before. That item need not be in the list any more.
func (t *Thread) page(cursor *string, limit *uint32) (items []protocol.ContextItem, total int, next *string, err *protocol.Error) {
	places := t.list()
	total = len(places)
	index := 0
	if cursor != nil {
		behind, found := t.find(*cursor)
		if !found {
			return nil, 0, nil, protocol.InvalidParams("cursor", "invalid cursor: %s (use the nextCursor of the page before)", *cursor)
		}
		index = t.listedUpTo(behind)
	}
	places = places[index:]
	if limit != nil && *limit > 0 && int(*limit) < len(places) {
		places = places[:*limit]
		next = new(t.items[places[len(places)-1]].id())
	}
	return t.views(places, index), total, next, nil
}

// listedUpTo counts the items of the list up to a place, in order.
func (h *history) listedUpTo(place int) (count int) {
	for i := range h.inOrder() {
		if h.items[i].listed() {
			count++
		}
		if i == place {
			break
		}
	}
	return count
}
