package protocol

// ThreadTokenUsage is the token usage of a thread and of its last model request.
type ThreadTokenUsage struct {
	Total TokenUsageBreakdown `json:"total"`
	Last  TokenUsageBreakdown `json:"last"`
	// ModelContextWindow is in tokens, or null if unknown.
	ModelContextWindow *int64 `json:"modelContextWindow"`
}

// TokenUsageBreakdown counts tokens as the provider reports them. Input tokens include cached tokens,
// output tokens include reasoning tokens.
type TokenUsageBreakdown struct {
	TotalTokens           int64 `json:"totalTokens"`
	InputTokens           int64 `json:"inputTokens"`
	CachedInputTokens     int64 `json:"cachedInputTokens"`
	CacheWriteInputTokens int64 `json:"cacheWriteInputTokens"`
	OutputTokens          int64 `json:"outputTokens"`
	ReasoningOutputTokens int64 `json:"reasoningOutputTokens"`
}

// Add returns the sum of both.
func (b TokenUsageBreakdown) Add(o TokenUsageBreakdown) TokenUsageBreakdown {
	return TokenUsageBreakdown{
		TotalTokens:           b.TotalTokens + o.TotalTokens,
		InputTokens:           b.InputTokens + o.InputTokens,
		CachedInputTokens:     b.CachedInputTokens + o.CachedInputTokens,
		CacheWriteInputTokens: b.CacheWriteInputTokens + o.CacheWriteInputTokens,
		OutputTokens:          b.OutputTokens + o.OutputTokens,
		ReasoningOutputTokens: b.ReasoningOutputTokens + o.ReasoningOutputTokens,
	}
}
