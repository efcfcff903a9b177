package model

import "appserver/protocol"

// maxTokens bounds a count of tokens of one request. No model reads or writes as many.
const maxTokens = 1_000_000_000

// Tokens returns a count that a provider reports, or 0 if no request can have it.
func Tokens(reported int64) int64 {
	if reported < 0 || reported > maxTokens {
		return 0
	}
	return reported
}

// Usage returns a usage whose parts are within their sums, or nil if nothing was counted. Each count must
// come from Tokens.
func Usage(u protocol.TokenUsageBreakdown) *protocol.TokenUsageBreakdown {
	u.CachedInputTokens = min(u.CachedInputTokens, u.InputTokens)
	u.CacheWriteInputTokens = min(u.CacheWriteInputTokens, u.InputTokens-u.CachedInputTokens)
	u.ReasoningOutputTokens = min(u.ReasoningOutputTokens, u.OutputTokens)
	u.TotalTokens = max(u.TotalTokens, u.InputTokens+u.OutputTokens)
	if u.TotalTokens == 0 {
		return nil
	}
	return &u
}
