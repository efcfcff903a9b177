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
func (h *History) Count(text string) int64 { return h.count(content{text: text}) }

func (h *History) count(c content) int64 { return c.frameTokens() + h.countText(c.text) }

func (h *History) countText(text string) int64 {
	h.dropStaleCounts()
	if text == "" {
		return 0
	}
	return int64(h.Tokenizer().Count(h.pricedFor, text))
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
func (h *History) CountBelow(end int) (sum int64, certain bool) {
	h.dropStaleCounts()
	for i := range h.Shown() {
		switch {
		case i >= end: // the order is not that of places
		case h.InPrompt(i) && h.describe(i).images:
			return 0, false
		case h.InPrompt(i):
			sum += h.describe(i).beforeScale(h.Scale())
		case h.PlaceholderSent(i):
			sum += h.placeholderTokens(i)
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
	return h.describe(place).tokens > PlaceholderTokens
}

const (
	// tolerance is the accepted relative difference between a count and the provider's report.
	tolerance = 0.02
	// minScale and maxScale bound the scales that are believed.
	minScale, maxScale = 0.25, 4
)

// Scale returns the factor for the counts of the model.
func (h *History) Scale() float64 {
	if scale, known := h.scales[h.destination.Name]; known {
		return scale
	}
	return 1
}

// Scaled returns a count as the provider would report it.
func (h *History) Scaled(tokens int64) int64 { return scaled(tokens, h.Scale()) }

func scaled(tokens int64, scale float64) int64 { return int64(float64(tokens)*scale + 0.5) }

// Calibrate compares our count of a request with the provider's report. If the tokenizer is exact for
// the model, the overhead causes the difference: providers write tools in a form of their own.
// Otherwise the scale of the model changes, if the difference exceeds the tolerance. A report about a cut prompt
// changes nothing.
func (h *History) Calibrate(model string, info *protocol.TokenCountInfo) {
	counted, reported := info.CountedInputTokens, info.LastTokenUsage.InputTokens
	h.noteReport(model, info)
	switch {
	case counted <= 0 || reported <= 0 || info.CutTo > 0:
	case !info.CountedByModel:
		h.rescale(model, counted, reported)
	case reported > counted/2 && reported/2 < counted: // otherwise the report is of another request
		if h.offsets == nil {
			h.offsets = map[string]int64{}
		}
		h.offsets[model] = reported - counted
	}
}

func (h *History) rescale(model string, counted, reported int64) {
	scale, known := h.scales[model]
	if !known {
		scale = 1
	}
	difference := float64(counted)*scale - float64(reported)
	if max(difference, -difference) <= tolerance*float64(reported) {
		return
	}
	ratio := float64(reported) / float64(counted)
	if ratio < minScale || ratio > maxScale {
		return
	}
	if h.scales == nil {
		h.scales = map[string]float64{}
	}
	h.scales[model] = ratio
}

// FixedTokens returns an overhead in tokens as the provider would report it.
func (h *History) FixedTokens(overhead int64) int64 {
	return max(h.Scaled(overhead)+h.offsets[h.destination.Name], 0)
}
