package history

import "appserver/protocol"

// InPrompt reports whether the next request has the item.
func (h *History) InPrompt(place int) bool { return h.NotSent(place) == "" }

// NotSent returns the reason why the next request does not have the item, or "".
func (h *History) NotSent(place int) protocol.NotSentReason {
	c := h.Item(place)
	switch {
	case !c.Kept():
		return protocol.NotSentExcluded
	case !c.InForm():
		return h.otherFormSent(c)
	case c.role == call:
		return unless(c.callID != "" && c.isWellFormed(), protocol.NotSentUnreadable)
	case c.role == output:
		return h.outputNotSent(c)
	case c.reasoning:
		return h.reasoningNotSent(place)
	case c.native:
		return h.nativeNotSent(c)
	}
	return unless(c.message, protocol.NotSentUnreadable)
}

func unless(sent bool, reason protocol.NotSentReason) protocol.NotSentReason {
	if sent {
		return ""
	}
	return reason
}

func (h *History) outputNotSent(c *Item) protocol.NotSentReason {
	if !h.CallSent(c) {
		return protocol.NotSentCallNotSent
	}
	return unless(c.isWellFormed(), protocol.NotSentUnreadable)
}

// nativeNotSent returns the reason for an item that only the API of its provider knows.
func (h *History) nativeNotSent(c *Item) protocol.NotSentReason {
	switch {
	case h.modelOf(c).Provider != h.destination.Provider:
		return protocol.NotSentOtherProvider
	case !h.destination.Responses:
		return protocol.NotSentOtherAPI
	case h.isRefused(c):
		return protocol.NotSentRefused
	}
	return ""
}

// reasoningNotSent returns the reason for reasoning. Reasoning goes back to the model that made it, together with the
// text or the call that followed it. Only the Responses API takes encrypted reasoning.
func (h *History) reasoningNotSent(place int) protocol.NotSentReason {
	c := h.Item(place)
	switch model := h.modelOf(c); {
	case model.Provider != h.destination.Provider:
		return protocol.NotSentOtherProvider
	case model.Name != h.destination.Name:
		return protocol.NotSentOtherModel
	case h.destination.Responses && !c.encrypted && !c.raw, !h.destination.Responses && c.encrypted:
		return protocol.NotSentOtherAPI
	case h.isRefused(c):
		return protocol.NotSentRefused
	case c.encrypted && c.visibility.Text != nil:
		return protocol.NotSentReplaced
	}
	carrier := h.carrierOf(place)
	switch {
	case carrier == None && !h.destination.Responses:
		return protocol.NotSentNotTakenBack
	case carrier == None && !c.encrypted:
		return protocol.NotSentOtherAPI
	}
	return unless(carrier != None && h.InPrompt(carrier), protocol.NotSentAnswerNotSent)
}

// SendsEncrypted reports whether the next request has encrypted content.
func (h *History) SendsEncrypted() bool {
	if h.sentCompaction != 0 {
		return true
	}
	for i := range h.Shown() {
		if h.Item(i).encrypted && h.InPrompt(i) {
			return true
		}
	}
	return false
}
