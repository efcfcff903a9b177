package history

import (
	"iter"
	"slices"

	"appserver/protocol"
)

// CacheWritePrice is the price of a token that a provider writes to its cache, over that of another input token.
// It holds for providers that report such tokens: Anthropic, and OpenAI from GPT-5.6 on.
const CacheWritePrice = 1.25

// Usage returns the cost of the context. overhead is the cost of a request's other parts, in tokens
// before the scale: its instructions and its tools. The context window is not set.
func (h *History) Usage(overhead Tokens) protocol.ContextUsage {
	h.dropStaleCounts()
	if h.usage == nil || h.usage.usageKey != h.usageKey() {
		h.describeAll(h.Shown())
		h.usage = &usageCounter{usageKey: h.usageKey()}
		for i := range h.Shown() {
			h.usage.add(h, i, 1)
		}
	}
	u := h.usage.result()
	u.PromptTokens = h.FixedTokens(overhead) + u.IncludedTokens
	return u
}

// usageKey has all on which the cost of the context depends except for the visibility and the form of items.
type usageKey struct {
	items       int
	destination Destination
	scale       Scale
}

func (h *History) usageKey() usageKey { return usageKey{h.items.Len(), h.destination, h.Scale()} }

// usageCounter adds up the cost of items.
type usageCounter struct {
	usageKey
	rows          [16]protocol.CategoryUsage // by description.row
	includedBytes int64
}

// add adds the cost of an item if sign is 1, and subtracts it if sign is -1.
func (c *usageCounter) add(h *History, place int, sign int64) {
	about := h.describe(place)
	row := &c.rows[about.row]
	if h.Item(place).Listed() {
		row.Count += int(sign)
		row.Tokens += sign * about.price(c.scale)
		row.Bytes += sign * about.bytes
	}
	tokens, bytes := h.sentSize(place, c.scale)
	row.IncludedTokens += sign * tokens
	c.includedBytes += sign * bytes
}

// result returns the usage without the tokens of the prompt.
func (c *usageCounter) result() protocol.ContextUsage {
	u := protocol.ContextUsage{IncludedBytes: c.includedBytes, ByCategory: []protocol.CategoryUsage{}}
	for i, category := range protocol.ContextCategories() {
		row := c.rows[i]
		u.TotalTokens += row.Tokens
		u.TotalBytes += row.Bytes
		u.IncludedTokens += row.IncludedTokens
		if row.Count > 0 || row.IncludedTokens > 0 { // a deleted output has a placeholder
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

func (h *History) sentSize(place int, scale Scale) (tokens, bytes int64) {
	switch {
	case h.InPrompt(place):
		about := h.describe(place)
		return about.price(scale), about.bytes
	case h.PlaceholderSent(place):
		return scale.Of(h.placeholderTokens(place)), int64(len(h.Item(place).visibility.placeholder()))
	}
	return 0, 0
}

// SavedBy returns by how many tokens changes make the next request smaller.
func (h *History) SavedBy(changes []Change) (tokens int64) {
	h.dropStaleCounts()
	places := h.affected(changes)
	if changesHidden(changes) { // pairs change as well
		places = sortedUnique(slices.AppendSeq(places, h.Shown()))
	}
	before := h.sentSum(slices.Values(places))
	h.simulate(changes, func() { tokens = before - h.sentSum(slices.Values(places)) })
	return tokens
}

// SentSum returns the cost of all items in the next request.
func (h *History) SentSum() int64 { return h.sentSum(h.Shown()) }

func (h *History) sentSum(places iter.Seq[int]) (sum int64) {
	scale := h.Scale()
	for place := range places {
		tokens, _ := h.sentSize(place, scale)
		sum += tokens
	}
	return sum
}

func sortedUnique(places []int) []int {
	slices.Sort(places)
	return slices.Compact(places)
}

// report is a provider's report about a whole request of the thread.
type report struct{ Counted, Reported int64 }

// minCutWindow is the least window to which a provider is believed to cut prompts, in tokens. No model that
// calls tools works with less.
const minCutWindow = 1024

// leastGrowth is the growth of a request from which on the growth of the report is compared, in tokens.
const leastGrowth = 512

// IsCut reports whether the usage of a request shows that the provider left out a part of it: the request grew,
// and the report shrank, or hardly grew. counted is this server's own count. Earlier reasoning explains a difference,
// because templates leave it out. A prompt that is mostly cached begins as before, so it is whole.
func (h *History) IsCut(model string, counted int64, u *protocol.TokenUsageBreakdown) bool {
	last, known := h.reports[model]
	reported := u.InputTokens
	if !known || counted <= last.Counted || reported <= 0 || u.CachedInputTokens > reported/2 {
		return false
	}
	grown, growth := counted-last.Counted, reported-last.Reported
	expected := int64(float64(grown) * min(float64(last.Reported)/float64(last.Counted), 1) * minScale)
	hardlyGrew := grown >= leastGrowth && growth < expected && reported >= minCutWindow
	missing := grown - growth - int64(tolerance*float64(last.Reported))
	return (growth < 0 || hardlyGrew) && missing > 0 && missing > h.reasoningTokens()
}

// CutAt returns the window that a report about a cut prompt shows, in tokens: the most that the provider has read.
func (h *History) CutAt(model string, reported int64) int64 {
	return max(reported, h.reports[model].Reported)
}

// CutWindow returns the window to which the provider cut an earlier prompt for the model of the next request, in
// tokens, or 0.
func (h *History) CutWindow() int64 {
	if window := h.cuts[h.destination.Name]; window >= minCutWindow {
		return window
	}
	return 0
}

// reasoningTokens returns the cost of the reasoning that is sent.
func (h *History) reasoningTokens() (sum int64) {
	for i := range h.Shown() {
		if h.InPrompt(i) && h.Category(i) == protocol.CategoryReasoning {
			sum += h.Cost(i)
		}
	}
	return sum
}

// noteReport keeps a report for comparison. A report about a cut prompt is not comparable. A larger report than the
// window of a cut shows that the window has grown.
func (h *History) noteReport(model string, info *protocol.TokenCountInfo) {
	reported := info.LastTokenUsage.InputTokens
	switch {
	case info.CutTo > 0:
		if h.cuts == nil {
			h.cuts = map[string]int64{}
		}
		h.cuts[model] = info.CutTo
		return
	case reported > h.cuts[model]:
		delete(h.cuts, model)
	}
	if info.CountedInputTokens <= 0 || reported <= 0 {
		return
	}
	if h.reports == nil {
		h.reports = map[string]report{}
	}
	h.reports[model] = report{info.CountedInputTokens, reported}
}
