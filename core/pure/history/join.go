package history

import (
	"appserver/core/pure/lineref"
	"appserver/core/pure/snapshot"
	"appserver/protocol"
)

// Add adds the item of a response_item line. The item stays JSON unless the state depends on it.
func (h *History) Add(line *Line) { h.add(line, line.ref(lineref.Whole, line.Payload)) }

// add adds an item of a line.
func (h *History) add(line *Line, ref lineref.Ref) {
	h.join(Item{ordinal: line.Ordinal, turnID: line.TurnID, Ref: ref})
	added := h.Item(h.items.Len() - 1)
	if added.reasoning || added.native {
		added.model = h.modelIndex(h.destination.Model)
	}
	if added.ofUser {
		added.notice = noticeOf(ref.Raw)
		if added.notice == reminder {
			h.placeReminder()
		}
		h.readNotice(added)
	} else if added.message && member(ref.Raw, "role") == protocol.RoleDeveloper {
		added.notice = developerNoticeOf(ref.Raw)
		h.readNotice(added)
	}
}

// Evict removes the payloads of the items from a place on from memory, if they can be read again.
func (h *History) Evict(place int) {
	for i := place; i < h.items.Len(); i++ {
		h.Item(i).Ref.Evict()
	}
}

// join adds an item at the end and pairs it. An output belongs to the latest call with its id that
// has no output yet.
func (h *History) join(c Item) {
	c.classify()
	place := int32(h.items.Len())
	if c.role != unpaired {
		h.pair(&c, place)
	}
	h.items.Append(c)
	h.appendOrder()
	h.shown.places = append(h.shown.places, place)
	h.cascadeDelete(int(place))
}

func (h *History) pair(c *Item, place int32) {
	latest, found := h.findCall(c.callID)
	switch {
	case c.callID == "":
	case c.role == call:
		h.latestCall.Set(c.callID, place)
	case found && h.at(latest).pair == None && !h.at(latest).visibility.hidden:
		h.at(latest).pair, c.pair = place, latest
	}
}

// findCall returns the place of the latest call with an id.
func (h *History) findCall(id string) (place int32, found bool) {
	return h.latestCall.Find(id, func(place int32) bool { return h.at(place).callID == id })
}

// pairAgain pairs the items that are not hidden, after an edit hid items or brought them back.
func (h *History) pairAgain() {
	before := make([]int32, h.items.Len())
	h.latestCall = snapshot.IDs{}
	for i := range h.items.Len() {
		c := h.Item(i)
		before[i], c.pair = c.pair, None
		if c.visibility.hidden && c.role == call && c.callID != "" {
			h.latestCall.Set(c.callID, int32(i))
		}
	}
	for i := range h.items.Len() {
		if c := h.Item(i); c.role != unpaired && !c.visibility.hidden {
			h.pair(c, int32(i))
		}
	}
	for i, pair := range before {
		h.Item(i).pairedAfter(pair)
	}
}

// pairedAfter drops the description of an output whose call has changed. The description names the call.
func (c *Item) pairedAfter(before int32) {
	if c.role == output && c.pair != before {
		c.about = nil
	}
}

// ReturningHalf returns the place of the output of a call, or of the call of an output, that returns to the list
// with the item at a place, or None.
func (h *History) ReturningHalf(place int) int {
	if h.Item(place).Listed() {
		return None
	}
	half := h.otherHalf(place)
	if half == None || h.Item(half).Listed() {
		return None
	}
	return half
}

// otherHalf returns the place of the output of a call, or of the call of an output, or None. It considers the
// items that are not hidden or that can return.
func (h *History) otherHalf(place int) int {
	c, step := h.Item(place), 1
	if c.role == unpaired || c.callID == "" {
		return None
	}
	if c.role == output {
		step = -1
	}
	for i := place + step; i >= 0 && i < h.items.Len(); i += step {
		other := h.Item(i)
		if other.role == unpaired || other.callID != c.callID ||
			other.visibility.hidden && h.NotReturnable(i) != "" {
			continue
		}
		if other.role == c.role {
			break
		}
		return i
	}
	return None
}

// savePairs returns a function that restores the present pairs. pairAgain could find others, because an edit
// that keeps all pairs together does not pair again.
func (h *History) savePairs() (restore func()) {
	pairs, latest := make([]int32, h.items.Len()), h.latestCall.Clone()
	for i := range h.items.Len() {
		pairs[i] = h.Item(i).pair
	}
	return func() {
		for i, pair := range pairs {
			c := h.Item(i)
			before := c.pair
			c.pair = pair
			c.pairedAfter(before)
		}
		h.latestCall = latest
	}
}

// cascadeDelete deletes an output that joins after its call was deleted, with the same edit.
func (h *History) cascadeDelete(place int) {
	owner := h.Item(place).pair
	if owner == None || !h.at(owner).visibility.deleted {
		return
	}
	for i := len(h.journal) - 1; i >= 0; i-- {
		if e := &h.journal[i]; e.deletes(owner) {
			c := Change{int32(place), visibility{}, visibility{deleted: true}}
			e.changes = append(e.Changes(), c)
			h.Item(place).setVisibility(c.after)
			return
		}
	}
}

// HasCall reports whether a call with the id ever joined.
func (h *History) HasCall(id string) bool {
	_, known := h.findCall(id)
	return known
}

// CallName returns the name of the tool of the latest call with the id, or "".
func (h *History) CallName(id string) string {
	place, known := h.findCall(id)
	if !known {
		return ""
	}
	return toolName(h.at(place).Decode())
}

// CallSent reports whether the call of an output is in the prompt.
func (h *History) CallSent(outputItem *Item) bool {
	c := outputItem.pair
	return c != None && h.at(c).Kept() && h.at(c).isWellFormed()
}

// hasPlaceholder reports whether the prompt has a placeholder for an output: its call is in the
// prompt and the output is not.
func (h *History) hasPlaceholder(place int) bool {
	c := h.Item(place)
	return c.role == output && !c.visibility.hidden && !c.Kept() && h.CallSent(c)
}

// PlaceholderSent reports whether the next request has a placeholder for an output.
func (h *History) PlaceholderSent(place int) bool {
	return h.Item(place).InForm() && h.hasPlaceholder(place)
}

// remains reports whether an item or its placeholder is there for a reader that ignores edits.
func (h *History) remains(place int) bool {
	c := h.Item(place)
	if c.role == output {
		return !c.visibility.hidden && h.CallSent(c)
	}
	return c.Kept()
}

// isOrphan reports whether the item is an output without a well-formed call.
func (h *History) isOrphan(place int) bool {
	c := h.Item(place)
	return c.role == output && (c.pair == None || !h.at(c.pair).isWellFormed())
}

// IsPinned reports whether the item or the output of the call is pinned.
func (h *History) IsPinned(c *Item) bool {
	if c.visibility.pinned {
		return true
	}
	return c.role == call && c.pair != None && h.at(c.pair).Listed() && h.at(c.pair).visibility.pinned
}

// carrierOf returns the place of the item that carries reasoning back to the provider, or None. It
// is an item of the same answer. In the Responses API, and after encrypted reasoning, it is the next item that is no
// reasoning, because the provider demands both together. Otherwise it is the next item that the provider marked.
func (h *History) carrierOf(reasoning int) int {
	c := h.Item(reasoning)
	next := c.encrypted || c.raw && h.destination.Responses
	for i := reasoning + 1; i < h.items.Len() && !h.Item(i).endsAnswer(); i++ {
		switch c := h.Item(i); {
		case next && c.reasoning, !next && !c.carrier:
		case next && !c.message && !c.native && c.role != call:
			return None
		default:
			return i
		}
	}
	return None
}

// reasoningOf returns the places of the reasoning that an item carries.
func (h *History) reasoningOf(carrier int) (places []int) {
	for i := carrier - 1; i >= 0 && !h.Item(i).endsAnswer(); i-- {
		if h.Item(i).reasoning && h.carrierOf(i) == carrier {
			places = append(places, i)
		}
	}
	return places
}

// affected returns the places of changed items, of the other halves of their pairs, and of the
// reasoning that they carry, sorted.
func (h *History) affected(changes []Change) []int {
	var places []int
	for _, c := range changes {
		places = append(places, int(c.place))
		if pair := h.at(c.place).pair; pair != None {
			places = append(places, int(pair))
		}
		places = append(places, h.reasoningOf(int(c.place))...)
	}
	return sortedUnique(places)
}
