package core

import (
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

const (
	// bytesPerToken is the size of a token in limits of outputs.
	bytesPerToken = 4
	// callLines is the room for the lines about a call around its text, in bytes.
	callLines = 512
	// outputShare is the part of the context window that an output takes at most: a fifth. The outputs of one answer
	// take two fifths together.
	outputShare = 5
	// limitTries bounds how often an output is cut and counted.
	limitTries = 4
)

// limitOutput returns an output within the bounds of requests: toolspec.MaxOutput, the configured limit, and its share
// of the context window. Every output for the model passes it.
func (s *step) limitOutput(output protocol.ToolOutput) protocol.ToolOutput {
	limit := toolspec.MaxOutput
	if output.Parts == nil {
		limit += callLines
	}
	if configured := s.capabilities.Limits.Output; configured > 0 {
		limit = min(limit, configured*bytesPerToken)
	}
	tokens := s.outputTokens()
	if tokens == 0 {
		return toolspec.LimitOutput(output, limit)
	}
	limited := toolspec.LimitOutput(output, limit)
	for range limitTries {
		size, cost := s.measure(limited)
		if cost <= tokens {
			return limited
		}
		limit = int(float64(size) * float64(tokens) / float64(cost) * 0.95)
		limited = s.withRecallHint(toolspec.LimitOutput(output, limit))
	}
	return toolspec.LimitOutput(output, min(limit, int(float64(tokens)/s.context.Scale().Max())))
}

// recallHint is added to outputs that the context window cut.
const recallHint = "\n[recall WORDS finds what was cut]"

// withRecallHint adds the hint if the model can recall.
func (s *step) withRecallHint(output protocol.ToolOutput) protocol.ToolOutput {
	switch {
	case s.reviewing() != nil || !s.recalls() && !s.economizes && !s.wasEconomized():
	case output.Parts == nil:
		output.Text += recallHint
	default:
		output.Parts = append(output.Parts, protocol.ContentItem{Type: protocol.ContentInputText, Text: recallHint})
	}
	return output
}

// limitText does the same as limitOutput, for a text.
func (s *step) limitText(text string) string {
	return s.limitOutput(protocol.ToolOutput{Text: text}).Text
}

// outputTokens returns the tokens that an output takes at most, or 0 if the context window is not known.
func (s *step) outputTokens() int64 {
	if s.isIdle() || s.active.env.Provider.ContextWindow == nil {
		return 0
	}
	window := *s.active.env.Provider.ContextWindow
	calls := max(int64(len(s.active.calls)), 1)
	return max(min(window/outputShare, 2*window/outputShare/calls), 1)
}

// measure returns the length of the texts of an output, and their cost in tokens. A short text is not counted: no text
// has more tokens than bytes.
func (s *step) measure(output protocol.ToolOutput) (size int, cost int64) {
	text := outputText(output)
	most := int64(float64(len(text)) * s.context.Scale().Max())
	if most <= s.outputTokens() {
		return len(text), most
	}
	return len(text), s.context.Scaled(s.context.Count(text))
}
