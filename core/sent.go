package core

import "appserver/protocol"

// inPrompt reports whether the next request has the item.
func (t *Thread) inPrompt(place int) bool { return t.notSent(place) == "" }

// notSent is the reason why the next request has no such item, or "".
func (t *Thread) notSent(place int) protocol.NotSentReason {
	c := &t.items[place]
	switch {
	case !c.kept():
		return protocol.NotSentExcluded
	case c.aside != 0:
		return t.otherFormSent(c)
	case c.role == aCall:
		return unless(c.callID != "" && c.sound(), protocol.NotSentUnreadable)
	case c.role == anOutput:
		return t.outputNotSent(c)
	case c.thought:
		return t.thoughtNotSent(place)
	case c.native:
		return t.nativeNotSent(c)
	}
	return unless(c.message, protocol.NotSentUnreadable)
}

func unless(sent bool, why protocol.NotSentReason) protocol.NotSentReason {
	if sent {
		return ""
	}
	return why
}

func (t *Thread) outputNotSent(c *contextItem) protocol.NotSentReason {
	if !t.called(c) {
		return protocol.NotSentCallNotSent
	}
	return unless(c.sound(), protocol.NotSentUnreadable)
}

// nativeNotSent is the reason for an item that only the API of its provider knows.
func (t *Thread) nativeNotSent(c *contextItem) protocol.NotSentReason {
	switch made := t.makerOfItem(c); {
	case made.provider != t.settings.Provider:
		return protocol.NotSentOtherProvider
	case !t.offers.Responses:
		return protocol.NotSentOtherAPI
	}
	return ""
}

// thoughtNotSent is the reason for reasoning. It goes back to the model that made it, by the API by
// which it came, together with the text or the call that followed it.
func (t *Thread) thoughtNotSent(place int) protocol.NotSentReason {
	c := &t.items[place]
	switch made := t.makerOfItem(c); {
	case made.provider != t.settings.Provider:
		return protocol.NotSentOtherProvider
	case made.model != t.settings.Model:
		return protocol.NotSentOtherModel
	case c.sealed != t.offers.Responses:
		return protocol.NotSentOtherAPI
	case c.sealed && c.fate.text != nil:
		return protocol.NotSentReplaced
	}
	carrier := t.carrierOf(place)
	if carrier == none && !c.sealed {
		return protocol.NotSentNotTakenBack
	}
	return unless(carrier != none && t.inPrompt(carrier), protocol.NotSentAnswerNotSent)
}

// makerOfItem is the model that made reasoning or a native item.
func (h *history) makerOfItem(c *contextItem) maker {
	if int(c.maker) >= len(h.makers) {
		return maker{}
	}
	return h.makers[c.maker]
}

// destination is where the next request goes. Tokens, and what of the items is sent, depend on it.
type destination struct {
	maker
	responses bool
}

func (t *Thread) destination() destination {
	return destination{maker{t.settings.Provider, t.settings.Model}, t.offers.Responses}
}
