package history

import (
	"iter"
	"strings"

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

const (
	// maxTokens bounds a count, so that it fits an int32.
	maxTokens = 1<<31 - 1
	// messageTokens frame a message: its begin, its role and its end. OpenAI documents the figure.
	messageTokens = 4
	// imageTokens is the cost of an image of medium size, lowDetailTokens of one in low detail.
	imageTokens     = 765
	lowDetailTokens = 85
)

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
	h.recount()
	if text == "" {
		return 0
	}
	return int64(h.Tokenizer().Count(h.pricedFor, text))
}

// recount removes the counts for another model.
func (h *History) recount() {
	if h.pricedFor == h.destination.Name {
		return
	}
	h.pricedFor = h.destination.Name
	for c := range h.items.Decoded() {
		c.about = nil
	}
}

// CountFirst returns the cost of the first n items in the prompt, in tokens before the scale. It
// returns false if one of them has images, whose cost is a guess.
func (h *History) CountFirst(n int) (sum int64, certain bool) {
	h.recount()
	for i := range h.Shown() {
		switch {
		case i >= n:
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
	h.recount()
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

const (
	// tolerance is the accepted relative difference between a count and the provider's report.
	tolerance = 0.02
	// minScale and maxScale bound the scales that are believed.
	minScale, maxScale = 0.25, 4
)

// Calibrate compares our count of a request with the provider's report. If the tokenizer is exact for
// the model, the overhead causes the difference: providers write tools in a form of their own.
// Otherwise the scale of the model changes, if the difference exceeds the tolerance.
func (h *History) Calibrate(model string, info *protocol.TokenCountInfo) {
	counted, reported := info.CountedInputTokens, info.LastTokenUsage.InputTokens
	switch {
	case counted <= 0 || reported <= 0:
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

// content is the part of an item that costs tokens.
type content struct {
	text   string
	images []protocol.ContentItem
}

// ContentText returns the text of an item that costs tokens: of a message, reasoning, a call with its
// arguments, or an output.
func ContentText(item protocol.ResponseItem) string { return contentOf(item).text }

func contentOf(item protocol.ResponseItem) (c content) {
	switch v := item.ResponseItemVariant.(type) {
	case *protocol.Message:
		c.add(v.Content)
	case *protocol.Reasoning:
		c.text = reasoningText(v)
	case *protocol.FunctionCall:
		c.text = v.FullName() + " " + v.Arguments
	case *protocol.CustomToolCall:
		c.text = v.Name + " " + v.Input
	case *protocol.LocalShellCall:
		c.text = "shell " + strings.Join(v.Action.Command, " ")
	case *protocol.FunctionCallOutput:
		c.text = v.Output.Text
		c.add(v.Output.Parts)
	case *protocol.CustomToolCallOutput:
		c.text = v.Output.Text
		c.add(v.Output.Parts)
	case *protocol.Unknown:
		c.text = string(v.Raw)
	}
	return c
}

func (c *content) add(parts []protocol.ContentItem) {
	if len(parts) == 1 && parts[0].Type != protocol.ContentInputImage {
		c.text = parts[0].Text
		return
	}
	texts := make([]string, 0, len(parts)+1)
	if c.text != "" {
		texts = append(texts, c.text)
	}
	for _, p := range parts {
		if p.Type == protocol.ContentInputImage {
			c.images = append(c.images, p)
		} else if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	c.text = strings.Join(texts, "\n")
}

// frameTokens returns the cost of all but the text.
func (c *content) frameTokens() int64 {
	n := messageTokens
	for _, image := range c.images {
		if image.Detail == "low" {
			n += lowDetailTokens
		} else {
			n += imageTokens
		}
	}
	return int64(n)
}

func reasoningText(r *protocol.Reasoning) string {
	var texts []string
	for _, part := range append(append([]protocol.ReasoningText{}, r.Summary...), r.Content...) {
		texts = append(texts, part.Text)
	}
	return strings.Join(texts, "\n")
}
