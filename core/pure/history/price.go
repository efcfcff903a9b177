package history

import (
	"iter"

	"appserver/protocol"
)

// Tokenizer counts tokens. Equal texts have equal counts.
type Tokenizer interface {
	// Known reports whether counts are exact for the model. Other counts are scaled to the
	// reports of the provider.
	Known(model string) bool
	Count(model, text string) int
}

// pipelinedTokenizer counts texts, in order, while it takes the next ones.
type pipelinedTokenizer interface {
	Tokenizer
	CountAll(model string, texts iter.Seq[string]) []int
}

// PlaceholderTokens is the cost of a placeholder without a note, before the scale.
const PlaceholderTokens = 10 + messageTokens

// approximate counts a token for every four bytes.
type approximate struct{}

func (approximate) Known(string) bool        { return true }
func (approximate) Count(_, text string) int { return (len(text) + 3) / 4 }

// Tokenizer returns the tokenizer of the options.
func (h *History) Tokenizer() Tokenizer {
	if h.options.Tokenizer != nil {
		return h.options.Tokenizer
	}
	return approximate{}
}

// Count returns the cost of a message with a text, in tokens before the scale.
func (h *History) Count(text string) Tokens {
	c := content{text: text}
	return h.countText(text).Plus(LatinTokens(c.frameTokens()))
}

func (h *History) countText(text string) Tokens {
	h.dropStaleCounts()
	if text == "" {
		return Tokens{}
	}
	all, scripts := h.Tokenizer().Count(h.pricedFor, text), 0
	if other := otherScripts(text); other != "" {
		scripts = h.Tokenizer().Count(h.pricedFor, other)
	}
	return textTokens(all, scripts)
}

// dropStaleCounts removes the token counts of items that were made for another model than that of the next request.
func (h *History) dropStaleCounts() {
	if h.pricedFor == h.destination.Name {
		return
	}
	h.pricedFor = h.destination.Name
	for c := range h.items.Decoded() {
		c.about = nil
	}
}

// CountBelow returns the cost of the items with places below end in the next request, in tokens before the
// scale. It returns false if one of them has images, whose cost is a guess.
func (h *History) CountBelow(end int) (sum Tokens, certain bool) {
	h.dropStaleCounts()
	for i := range h.Shown() {
		switch {
		case i >= end: // the order is not that of places
		case h.InPrompt(i) && h.describe(i).images:
			return Tokens{}, false
		case h.InPrompt(i):
			sum = sum.Plus(h.describe(i).beforeScale(h.Scale()))
		case h.PlaceholderSent(i):
			sum = sum.Plus(h.placeholderTokens(i))
		}
	}
	return sum, true
}

// Uncounted returns the length of the items that are not hidden and whose tokens are not counted yet, in bytes.
func (h *History) Uncounted() (bytes int) {
	h.dropStaleCounts()
	for i := range h.Shown() {
		if h.Item(i).about == nil {
			bytes += int(h.Item(i).size)
		}
	}
	return bytes
}

// Cost returns the cost of an item, in tokens as the provider would report them.
func (h *History) Cost(place int) int64 { return h.describe(place).price(h.Scale()) }

// Category returns the category of an item.
func (h *History) Category(place int) protocol.ContextCategory { return h.describe(place).category }

// IsUserMessage reports whether an item is a message that the user typed.
func (h *History) IsUserMessage(place int) bool {
	return h.Item(place).message && h.Category(place) == protocol.CategoryUserMessage
}

// ExceedsPlaceholder reports whether an item costs more than its placeholder.
func (h *History) ExceedsPlaceholder(place int) bool {
	return h.describe(place).tokens.All > PlaceholderTokens
}

// Scale returns the factors for the counts of the model.
func (h *History) Scale() Scale {
	if scale, known := h.scales[h.destination.Name]; known {
		return scale
	}
	return unscaled()
}

// Scaled returns a count as the provider would report it.
func (h *History) Scaled(t Tokens) int64 { return h.Scale().Of(t) }

// FixedTokens returns an overhead in tokens as the provider would report it.
func (h *History) FixedTokens(overhead Tokens) int64 {
	return max(h.Scaled(overhead)+h.offsets[h.destination.Name], 0)
}
