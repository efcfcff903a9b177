package history

import "appserver/protocol"

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
