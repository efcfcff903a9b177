package chat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/model/modeltest"
	"appserver/protocol"
)

func TestUsageOfProvidersIsReadByTheNamesOfEach(t *testing.T) {
	for name, c := range map[string]struct {
		usage string
		want  protocol.TokenUsageBreakdown
	}{
		"OpenAI": {`{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,` +
			`"prompt_tokens_details":{"cached_tokens":1920,"cache_write_tokens":64,"audio_tokens":0},` +
			`"completion_tokens_details":{"reasoning_tokens":128,"accepted_prediction_tokens":0}}`,
			protocol.TokenUsageBreakdown{TotalTokens: 2306, InputTokens: 2006, CachedInputTokens: 1920,
				CacheWriteInputTokens: 64, OutputTokens: 300, ReasoningOutputTokens: 128}},
		"DeepSeek": {`{"prompt_tokens":1100,"completion_tokens":40,"total_tokens":1140,"prompt_cache_hit_tokens":1024,` +
			`"prompt_cache_miss_tokens":76,"completion_tokens_details":{"reasoning_tokens":30}}`,
			protocol.TokenUsageBreakdown{TotalTokens: 1140, InputTokens: 1100, CachedInputTokens: 1024, OutputTokens: 40,
				ReasoningOutputTokens: 30}},
		"Moonshot": {`{"prompt_tokens":800,"completion_tokens":20,"total_tokens":820,"cached_tokens":768}`,
			protocol.TokenUsageBreakdown{TotalTokens: 820, InputTokens: 800, CachedInputTokens: 768, OutputTokens: 20}},
		"OpenRouter": {`{"prompt_tokens":10339,"completion_tokens":60,"total_tokens":10399,"cost":0.01,` +
			`"prompt_tokens_details":{"cached_tokens":10318,"cache_write_tokens":10}}`,
			protocol.TokenUsageBreakdown{TotalTokens: 10399, InputTokens: 10339, CachedInputTokens: 10318,
				CacheWriteInputTokens: 10, OutputTokens: 60}},
		"LiteLLM, cache in the prompt": {`{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,` +
			`"prompt_tokens_details":{"cached_tokens":1500,"cache_creation_tokens":400},` +
			`"cache_creation_input_tokens":400,"cache_read_input_tokens":1500}`,
			protocol.TokenUsageBreakdown{TotalTokens: 2306, InputTokens: 2006, CachedInputTokens: 1500,
				CacheWriteInputTokens: 400, OutputTokens: 300}},
		"LiteLLM, cache beside the prompt": {`{"completion_tokens":467,"prompt_tokens":31,"total_tokens":498,` +
			`"prompt_tokens_details":{"cached_tokens":0},"cache_creation_input_tokens":1253,"cache_read_input_tokens":0}`,
			protocol.TokenUsageBreakdown{TotalTokens: 1751, InputTokens: 1284, CacheWriteInputTokens: 1253,
				OutputTokens: 467}},
		"gateway, cache beside the prompt by its total": {`{"prompt_tokens":5000,"completion_tokens":10,` +
			`"total_tokens":9010,"cache_read_input_tokens":4000}`,
			protocol.TokenUsageBreakdown{TotalTokens: 9010, InputTokens: 9000, CachedInputTokens: 4000, OutputTokens: 10}},
		"Gemini": {`{"prompt_tokens":758,"completion_tokens":102,"total_tokens":1725}`,
			protocol.TokenUsageBreakdown{TotalTokens: 1725, InputTokens: 758, OutputTokens: 967,
				ReasoningOutputTokens: 865}},
		"Gemini with a cache": {`{"prompt_tokens":5000,"completion_tokens":10,"total_tokens":5010,` +
			`"prompt_tokens_details":{"cached_tokens":4096}}`,
			protocol.TokenUsageBreakdown{TotalTokens: 5010, InputTokens: 5000, CachedInputTokens: 4096, OutputTokens: 10}},
		"xAI": {`{"prompt_tokens":100,"completion_tokens":9,"total_tokens":139,` +
			`"completion_tokens_details":{"reasoning_tokens":30}}`,
			protocol.TokenUsageBreakdown{TotalTokens: 139, InputTokens: 100, OutputTokens: 39, ReasoningOutputTokens: 30}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, &c.want, usageOf(t, c.usage)) })
	}
}

func TestUsageOutOfBoundsNeverFailsAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		usage string
		want  *protocol.TokenUsageBreakdown
	}{
		"cached above the prompt": {`{"prompt_tokens":10,"completion_tokens":1,"prompt_cache_hit_tokens":99}`,
			&protocol.TokenUsageBreakdown{TotalTokens: 11, InputTokens: 10, CachedInputTokens: 10, OutputTokens: 1}},
		"written above the prompt": {`{"prompt_tokens":10,"completion_tokens":1,` +
			`"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":99}}`,
			&protocol.TokenUsageBreakdown{TotalTokens: 11, InputTokens: 10, CachedInputTokens: 4, CacheWriteInputTokens: 6,
				OutputTokens: 1}},
		"negative": {`{"prompt_tokens":10,"completion_tokens":-5,"total_tokens":-1,"cache_read_input_tokens":-7,` +
			`"prompt_tokens_details":{"cached_tokens":-64}}`,
			&protocol.TokenUsageBreakdown{TotalTokens: 10, InputTokens: 10}},
		"huge": {`{"prompt_tokens":10,"completion_tokens":9223372036854775807,"total_tokens":9223372036854775807,` +
			`"cache_creation_input_tokens":9223372036854775807,"cache_read_input_tokens":1e300}`,
			&protocol.TokenUsageBreakdown{TotalTokens: 10, InputTokens: 10}},
		"wrong types": {`{"prompt_tokens":10,"completion_tokens":"2","total_tokens":[1],"prompt_tokens_details":7,` +
			`"cache_read_input_tokens":{},"cached_tokens":2.5}`,
			&protocol.TokenUsageBreakdown{TotalTokens: 10, InputTokens: 10}},
		"reasoning above the answer": {`{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11,` +
			`"completion_tokens_details":{"reasoning_tokens":5}}`,
			&protocol.TokenUsageBreakdown{TotalTokens: 11, InputTokens: 10, OutputTokens: 1, ReasoningOutputTokens: 1}},
		"nothing": {`{"prompt_tokens":-1}`, nil},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, usageOf(t, c.usage)) })
	}
}

// usageOf returns the usage of an answer whose last chunk has it.
func usageOf(t *testing.T, usage string) *protocol.TokenUsageBreakdown {
	t.Helper()
	stream := event(`{"content":"ok"}`) + stop + `data: {"choices":[],"usage":` + usage + "}\n\n" + done
	_, answer, err := modeltest.Ask(t.Context(), serve(t, modeltest.Events(stream)), modeltest.UserSays("hi"))
	require.NoError(t, err)
	return answer.Usage
}
