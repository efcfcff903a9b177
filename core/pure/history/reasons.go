package history

import (
	"slices"

	"appserver/protocol"
)

// reasonTexts has a sentence for each reason.
var reasonTexts = map[protocol.ContextReasonCode]string{
	protocol.ReasonSent:         "The next request has it.",
	protocol.ReasonSentReplaced: "The next request has it, with the text that replaced its own.",
	protocol.ReasonDeleted:      "It was deleted. An include, undo or restore brings it back.",
	protocol.ReasonTrimmed:      "It was trimmed, because it is before a trim point.",
	protocol.ReasonCompacted:    "A compaction replaced it by a summary.",
	protocol.ReasonReverted:     "Its turn was reverted.",
	protocol.ReasonUndone:       "The edit that added it is undone, or a later edit replaced it.",
	protocol.ReasonOutdated:     "A later reminder replaced it.",

	protocol.ContextReasonCode(protocol.NotSentExcluded):      "It is excluded.",
	protocol.ContextReasonCode(protocol.NotSentCallNotSent):   "It is the output of a call that is not sent.",
	protocol.ContextReasonCode(protocol.NotSentAnswerNotSent): "It is reasoning, and the answer that it belongs to is not sent.",
	protocol.ContextReasonCode(protocol.NotSentNotTakenBack):  "It is reasoning, and its provider does not take it back.",
	protocol.ContextReasonCode(protocol.NotSentRefused):       "It is encrypted, and its provider could not read it.",
	protocol.ContextReasonCode(protocol.NotSentReplaced): "It is encrypted reasoning with a replaced text, " +
		"and no provider takes that back.",
	protocol.ContextReasonCode(protocol.NotSentOtherModel):     "It is the reasoning of another model.",
	protocol.ContextReasonCode(protocol.NotSentOtherProvider):  "Only another provider can read it.",
	protocol.ContextReasonCode(protocol.NotSentOtherAPI):       "The API of the next request cannot carry it.",
	protocol.ContextReasonCode(protocol.NotSentCompactionSent): "An encrypted compaction is sent instead.",
	protocol.ContextReasonCode(protocol.NotSentOriginalsSent): "It came with an encrypted compaction. " +
		"The items that the compaction replaced are sent instead.",
	protocol.ContextReasonCode(protocol.NotSentUnreadable): "It has an unknown type, or cannot be decoded.",
}

// reasonOf returns why the next request has the item at a place, or does not have it.
func (h *History) reasonOf(place int) protocol.ContextItemReason {
	c, code := h.Item(place), protocol.ReasonSent
	switch reason := h.NotSent(place); {
	case c.visibility.hidden:
		code = h.hiddenBy(int32(place))
	case c.visibility.deleted:
		code = protocol.ReasonDeleted
	case reason != "":
		code = protocol.ContextReasonCode(reason)
	case c.visibility.Text != nil:
		code = protocol.ReasonSentReplaced
	}
	text := reasonTexts[code]
	if h.PlaceholderSent(place) {
		text += " The model receives a placeholder in its place."
	}
	return protocol.ContextItemReason{Code: code, Text: text}
}

// RemovalReasons returns the reason for each item that a compaction, a trim or a deletion took out of the list, by
// its place, and "" for others. Reverted and undone items are not among them.
func (h *History) RemovalReasons() []protocol.ContextReasonCode {
	removed := make([]protocol.ContextReasonCode, h.items.Len())
	inForce := h.inForce()
	for i := len(h.journal) - 1; i >= 0; i-- {
		e := &h.journal[i]
		if !inForce(e) {
			continue
		}
		for _, c := range e.readChanges() {
			if removed[c.place] == "" && c.after.hidden && h.at(c.place).Hidden() {
				removed[c.place] = e.reasonHidden()
			}
		}
	}
	reverted := h.hasReverts()
	for place, r := range removed {
		if r != protocol.ReasonTrimmed && r != protocol.ReasonCompacted || reverted && h.isReverted(place) {
			removed[place] = ""
		}
	}
	for place := range h.Shown() {
		if h.Item(place).Deleted() {
			removed[place] = protocol.ReasonDeleted
		}
	}
	return removed
}

// hasReverts reports whether a revert took turns out.
func (h *History) hasReverts() bool {
	return slices.ContainsFunc(h.journal, func(e Edit) bool { return e.revertInForce() })
}

// isReverted reports whether a revert took out the line of an item.
func (h *History) isReverted(place int) bool {
	ordinal := h.Item(place).ordinal
	for i := range h.journal {
		if e := &h.journal[i]; e.revertInForce() && ordinal >= e.from && ordinal <= e.ordinal {
			return true
		}
	}
	return false
}

// inForce returns a function that reports whether an edit is in force: no undo and no restore took it back.
func (h *History) inForce() func(e *Edit) bool {
	points := h.TrimPoints()
	return func(e *Edit) bool {
		return !e.Undone && (e.point == nil || IndexOfPoint(points, e.point.ID) >= 0)
	}
}

// hiddenBy returns the reason for a hidden item: a revert of its turn, or the last edit in force that hides it.
func (h *History) hiddenBy(place int32) protocol.ContextReasonCode {
	if h.isReverted(int(place)) { // its changes lack items that were hidden already
		return protocol.ReasonReverted
	}
	inForce := h.inForce()
	hides := func(c Change) bool { return c.place == place && c.after.hidden }
	for i := len(h.journal) - 1; i >= 0; i-- {
		if e := &h.journal[i]; inForce(e) && slices.ContainsFunc(e.Changes(), hides) {
			return e.reasonHidden()
		}
	}
	return protocol.ReasonUndone
}

// reasonHidden returns the reason for the items that the edit hides.
func (e *Edit) reasonHidden() protocol.ContextReasonCode {
	switch e.Op {
	case protocol.EditTrim:
		return protocol.ReasonTrimmed
	case protocol.EditCompact:
		return protocol.ReasonCompacted
	case protocol.EditRevert:
		return protocol.ReasonReverted
	}
	return protocol.ReasonUndone
}

// NotReturnable returns why an include cannot bring back the item at a place, which is not in the list, or "".
func (h *History) NotReturnable(place int) string {
	c, code := h.Item(place), protocol.ReasonDeleted
	switch {
	case c.visibility.hidden:
		code = h.hiddenBy(int32(place))
	}
	switch {
	case code != protocol.ReasonTrimmed && code != protocol.ReasonCompacted && code != protocol.ReasonDeleted:
		return reasonTexts[code]
	case c.notice == reminder:
		return "It is a reminder of the memory. The server sends another one when it is needed."
	case c.visibility.hidden && c.IsPart() && slices.Contains(h.encrypted, c.ordinal):
		return "It belongs to an encrypted compaction. Undo the edit that took it out."
	}
	return ""
}
