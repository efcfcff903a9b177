package history

import (
	"slices"

	"appserver/protocol"
)

// CacheWritePrice is the price of a token that a provider writes to its cache, over that of another input token.
// It holds for providers that report such tokens: Anthropic, and OpenAI from GPT-5.6 on.
const CacheWritePrice = 1.25

// Usage returns the cost of the context. overhead is the cost of a request's other parts, in tokens
// before the scale: its instructions and its tools. The context window is not set.
func (h *History) Usage(overhead int64) protocol.ContextUsage {
	h.recount()
	if h.counted == nil || h.counted.usageKey != h.usageKey() {
		h.describeAll(h.Shown())
		h.counted = &usageCounter{usageKey: h.usageKey()}
		for i := range h.Shown() {
			h.counted.add(h, i, 1)
		}
	}
	u := h.counted.usage()
	u.PromptTokens = h.FixedTokens(overhead) + u.IncludedTokens
	return u
}

// FixedTokens returns an overhead in tokens as the provider would report it.
func (h *History) FixedTokens(overhead int64) int64 {
	return max(h.Scaled(overhead)+h.offsets[h.destination.Name], 0)
}

// usageKey has all on which the cost of the context depends except for the visibility and the form of items.
type usageKey struct {
	items       int
	destination Destination
	scale       float64
}

func (h *History) usageKey() usageKey { return usageKey{h.items.Len(), h.destination, h.Scale()} }

// usageCounter adds up the cost of items.
type usageCounter struct {
	usageKey
	total, included [2]int64                   // tokens and bytes
	rows            [16]protocol.CategoryUsage // by description.kind
}

// add adds the cost of an item if sign is 1, and subtracts it if sign is -1.
func (c *usageCounter) add(h *History, place int, sign int64) {
	about := h.describe(place)
	row := &c.rows[about.kind]
	if h.Item(place).Listed() {
		price := about.price(c.scale)
		row.Count += int(sign)
		row.Tokens += sign * price
		row.Bytes += sign * about.bytes
		c.total[0] += sign * price
		c.total[1] += sign * about.bytes
	}
	tokens, bytes := h.sentSize(place, c.scale)
	row.IncludedTokens += sign * tokens
	c.included[0] += sign * tokens
	c.included[1] += sign * bytes
}

// maxRecounted bounds the changes after which the usage is not counted from the start.
const maxRecounted = 64

// countAgain runs set, which applies changes, and updates the usage that was counted last.
func (h *History) countAgain(changes []Change, set func()) {
	if h.counted == nil || h.counted.usageKey != h.usageKey() || len(changes) > maxRecounted || changesHidden(changes) {
		h.counted = nil
		set()
		return
	}
	places := h.affected(changes)
	for _, place := range places {
		h.counted.add(h, place, -1)
	}
	set()
	for _, place := range places {
		h.counted.add(h, place, 1)
	}
}

func (c *usageCounter) usage() protocol.ContextUsage {
	u := protocol.ContextUsage{
		TotalTokens: c.total[0], TotalBytes: c.total[1], IncludedTokens: c.included[0], IncludedBytes: c.included[1],
		ByCategory: []protocol.CategoryUsage{},
	}
	for i, category := range protocol.ContextCategories() {
		if row := c.rows[i]; row.Count > 0 || row.IncludedTokens > 0 { // a deleted output has a placeholder
			row.Category = category
			u.ByCategory = append(u.ByCategory, row)
		}
	}
	return u
}

// SentTokens returns the cost of an item, or of its placeholder, in the next request.
func (h *History) SentTokens(place int) int64 {
	tokens, _ := h.sentSize(place, h.Scale())
	return tokens
}

func (h *History) sentSize(place int, scale float64) (tokens, bytes int64) {
	switch {
	case h.InPrompt(place):
		about := h.describe(place)
		return about.price(scale), about.bytes
	case h.PlaceholderSent(place):
		return scaled(h.placeholderTokens(place), scale), int64(len(h.Item(place).visibility.placeholder()))
	}
	return 0, 0
}

// SavedBy returns by how many tokens changes make the next request smaller.
func (h *History) SavedBy(changes []Change) (tokens int64) {
	h.recount()
	places := h.affected(changes)
	if changesHidden(changes) { // pairs change as well
		places = slices.AppendSeq(places, h.Shown())
		slices.Sort(places)
		places = slices.Compact(places)
	}
	before := h.sentSum(places)
	h.simulate(changes, func() { tokens = before - h.sentSum(places) })
	return tokens
}

// SentSum returns the cost of all items in the next request.
func (h *History) SentSum() (sum int64) {
	for place := range h.Shown() {
		sum += h.SentTokens(place)
	}
	return sum
}

func (h *History) sentSum(places []int) (sum int64) {
	scale := h.Scale()
	for _, place := range places {
		tokens, _ := h.sentSize(place, scale)
		sum += tokens
	}
	return sum
}
