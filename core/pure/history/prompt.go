package history

import (
	"fmt"

	"appserver/protocol"
)

// abortedText is the output of a call that has none.
const abortedText = "aborted"

// Prompt returns the items of the next request, each output directly after the calls that it belongs
// to. A call without an output, or with an excluded one, gets a placeholder. Outputs without a call
// and items without a readable id are left out.
func (h *History) Prompt() []protocol.ResponseItem {
	h.updateShown()
	items := make([]protocol.ResponseItem, 0, len(h.shown.places))
	h.eachSent(func(_ int, item protocol.ResponseItem) { items = append(items, item) })
	return items
}

// PromptPlaces returns the places of the items of Prompt. A placeholder has the place of its output, or of the
// call if there is no output.
func (h *History) PromptPlaces() []int {
	h.updateShown()
	places := make([]int, 0, len(h.shown.places))
	h.eachSent(func(place int, _ protocol.ResponseItem) { places = append(places, place) })
	return places
}

// eachSent calls add with the items of the next request and their places.
func (h *History) eachSent(add func(place int, item protocol.ResponseItem)) {
	var open []int // calls whose outputs are not added yet
	addOutputs := func() {
		for _, call := range open {
			if pair := h.Item(call).pair; pair != None {
				add(int(pair), h.outputOf(call))
			} else {
				add(call, h.outputOf(call))
			}
		}
		open = open[:0]
	}
	for i := range h.Shown() {
		c := h.Item(i)
		if c.role != unpaired && c.Kept() {
			c.Protocol()
		}
		if c.role != call && c.InForm() && h.remains(i) {
			addOutputs()
		}
		if c.role == output || !h.InPrompt(i) {
			continue
		}
		if c.role == call {
			open = append(open, i)
		}
		add(i, c.Sent())
	}
	addOutputs()
}

// outputOf returns the output of a call in the prompt, or its placeholder.
func (h *History) outputOf(place int) protocol.ResponseItem {
	c := h.Item(place)
	if c.pair == None {
		return c.Answer(abortedText)
	}
	switch o := h.at(c.pair); {
	case !o.Kept():
		return c.Answer(o.visibility.placeholder())
	case !o.isWellFormed():
		return c.Answer(abortedText)
	default:
		return o.Sent()
	}
}

// placeholder returns the text for an output that was taken out.
func (v *visibility) placeholder() string {
	return PlaceholderText(int64(v.omitted), v.PlaceholderNote)
}

// PlaceholderText returns the text for an output that was taken out: its cost in tokens, and a note or "".
func PlaceholderText(tokens int64, note string) string {
	if note != "" {
		return fmt.Sprintf("[output excluded from context: %d tokens; %s]", tokens, note)
	}
	return fmt.Sprintf("[output excluded from context: %d tokens]", tokens)
}

// placeholderTokens returns the cost of the placeholder at a place, in tokens before the scale.
func (h *History) placeholderTokens(place int) Tokens {
	v := h.Item(place).visibility
	if v.PlaceholderNote == "" {
		return LatinTokens(PlaceholderTokens)
	}
	return h.Count(v.placeholder())
}

// Answer returns an output for a call.
func (c *Item) Answer(text string) protocol.ResponseItem {
	out := protocol.ToolOutput{Text: text}
	if _, custom := c.Protocol().ResponseItemVariant.(*protocol.CustomToolCall); custom {
		return protocol.ResponseItem{ResponseItemVariant: &protocol.CustomToolCallOutput{CallID: c.callID, Output: out}}
	}
	return protocol.ResponseItem{ResponseItemVariant: &protocol.FunctionCallOutput{CallID: c.callID, Output: out}}
}

// isReplaceable reports whether the item can be given another text.
func (c *Item) isReplaceable() bool {
	switch c.Decode().ResponseItemVariant.(type) {
	case *protocol.FunctionCallOutput, *protocol.CustomToolCallOutput, *protocol.Reasoning:
		return true
	}
	return false
}
