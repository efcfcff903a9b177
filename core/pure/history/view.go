package history

import (
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
		LongPreview: about.longPreview,
		Included:    !c.visibility.excluded, InPrompt: reason == "", NotSentReason: reason,
		ContextItemMarks: c.visibility.shown(), Superseded: h.isSuperseded(place),
		Tokens: about.price(h.Scale()), Bytes: about.bytes,
		TurnID: present(&c.turnID), CallID: present(&c.callID), ItemID: present(&about.itemID),
	}
	v.AgentThreadID = present(&about.agent)
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
