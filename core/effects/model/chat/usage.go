package chat

import (
	"cmp"

	"appserver/core/effects/model"
	"appserver/protocol"
)

// usage is in tokens. Providers name the cached part of a prompt in five ways.
type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	// PromptMore has the names of OpenAI and OpenRouter, and the one of LiteLLM for writes.
	PromptMore struct {
		Cached        int64 `json:"cached_tokens"`
		CacheWrite    int64 `json:"cache_write_tokens"`
		CacheCreation int64 `json:"cache_creation_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionMore struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	// CacheHit is DeepSeek's name, Cached Moonshot's.
	CacheHit int64 `json:"prompt_cache_hit_tokens"`
	Cached   int64 `json:"cached_tokens"`
	// CacheRead and CacheCreation are Anthropic's names, as gateways pass them on.
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
}

// breakdown returns nil if nothing was counted.
func (u *usage) breakdown() *protocol.TokenUsageBreakdown {
	b := protocol.TokenUsageBreakdown{
		TotalTokens: model.Tokens(u.Total), InputTokens: model.Tokens(u.Prompt), OutputTokens: model.Tokens(u.Completion),
		ReasoningOutputTokens: model.Tokens(u.CompletionMore.Reasoning),
	}
	read, creation := model.Tokens(u.CacheRead), model.Tokens(u.CacheCreation)
	apart := read + creation
	if apart > b.InputTokens || apart > 0 && b.TotalTokens == b.InputTokens+b.OutputTokens+apart {
		b.InputTokens += apart // Anthropic counts the cached part of a prompt beside the rest
	}
	b.CachedInputTokens = cmp.Or(model.Tokens(u.PromptMore.Cached), read, model.Tokens(u.CacheHit), model.Tokens(u.Cached))
	b.CacheWriteInputTokens = cmp.Or(model.Tokens(u.PromptMore.CacheWrite), model.Tokens(u.PromptMore.CacheCreation),
		creation)
	if rest := b.TotalTokens - b.InputTokens - b.OutputTokens; rest > 0 && b.InputTokens > 0 {
		b.OutputTokens += rest // Gemini and xAI count reasoning in the total only
		b.ReasoningOutputTokens = max(b.ReasoningOutputTokens, rest)
	}
	return model.Usage(b)
}
