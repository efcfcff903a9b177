package history

import (
	"encoding/json"
	"strings"

	"appserver/protocol"
)

// ApplyCompacted applies a compacted line: it replaces the history by the one of the line, or by the
// user's messages and the summary. It is an edit that can be undone.
func (h *History) ApplyCompacted(line *Line) {
	var c protocol.Compacted
	if protocol.Unmarshal(line.Payload, &c) != nil {
		return
	}
	if c.TrimPoint != nil && c.ReplacementHistory == nil {
		c.TrimPoint.Summary = new(strings.TrimPrefix(c.Message, SummaryHead))
		h.addTrim(Edit{point: c.TrimPoint, ContextEdit: protocol.ContextEdit{Op: protocol.EditCompact}}, line)
		return
	}
	if isEncrypted(c.ReplacementHistory) {
		h.joinEncrypted(line, c.ReplacementHistory)
		return
	}
	h.replaceAll(line, &c)
}

// replaceAll hides all items and adds the items of a compaction.
func (h *History) replaceAll(line *Line, c *protocol.Compacted) {
	e := Edit{ordinal: line.Ordinal, bare: c.ReplacementHistory == nil}
	replacement := c.ReplacementHistory
	if e.bare {
		replacement = h.compactedHistory(c.Message)
	}
	e.Op, e.At = protocol.EditCompact, line.at()
	for _, i := range h.sortedShown() {
		e.changes = append(e.changes, h.hide(int32(i)))
	}
	e.Count = len(e.changes)
	h.applyChanges(e.changes) // first, because new items pair with items that are not hidden
	for k, raw := range replacement {
		ref := line.ref(k, raw)
		if e.bare {
			ref.Source = nil // the line does not have the item
		}
		h.add(line, ref)
		e.changes = append(e.changes, Change{int32(h.items.Len() - 1), visibility{hidden: true}, visibility{}})
	}
	h.markSummary(len(replacement), c.Message)
	h.countRevision(0)
	h.addEdit(e)
	h.refresh(&e)
}

// markSummary marks the last of the n last items that contains the summary.
func (h *History) markSummary(n int, summary string) {
	if summary == "" {
		return
	}
	for i := h.items.Len() - 1; i >= h.items.Len()-n; i-- {
		if strings.Contains(TextOf(h.Item(i).Decode()), summary) {
			h.Item(i).summary = true
			return
		}
	}
}

// compactedHistory returns the items after a compaction whose line has no history.
func (h *History) compactedHistory(summary string) []json.RawMessage {
	var kept []json.RawMessage
	for _, i := range h.sortedShown() {
		c := h.Item(i)
		if !c.message || !c.Kept() || c.ordinal < h.LastEncrypted() {
			continue
		}
		item := c.Decode()
		m, ok := item.ResponseItemVariant.(*protocol.Message)
		if ok && m.Role == protocol.RoleUser && !strings.HasPrefix(TextOf(item), protocol.PluginsTag) {
			kept = appendItem(kept, m)
		}
	}
	return appendItem(kept, UserMessage(summary))
}

func appendItem(list []json.RawMessage, v protocol.ResponseItemVariant) []json.RawMessage {
	raw, err := protocol.Marshal(protocol.ResponseItem{ResponseItemVariant: v})
	if err != nil {
		return list
	}
	return append(list, raw)
}
