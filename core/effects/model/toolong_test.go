package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestPromptsThatDoNotFitAreRecognised has the words of public bug reports and of real servers, with the window that
// they state.
func TestPromptsThatDoNotFitAreRecognised(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		window int64
	}{
		{"OpenAI", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.","code":"context_length_exceeded"}}`, 8192},
		{"OpenAI, Responses", 400, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","param":"input","code":"context_length_exceeded"}}`, 0},
		{"Anthropic", 400, `{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, 200000},
		{"Anthropic, with the answer", 400, `{"error":{"message":"input length and ` + "`max_tokens`" + ` exceed context limit: 190000 + 20000 > 200000, decrease input length or ` + "`max_tokens`" + ` and try again"}}`, 200000},
		{"Anthropic, bytes", 413, `{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, 0},
		{"Moonshot", 400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192","type":"invalid_request_error"}}`, 8192},
		{"xAI", 400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`, 131072},
		{"Qwen", 400, `{"error":{"code":"invalid_parameter_error","message":"Range of input length should be [1, 30720]"}}`, 30720},
		{"GLM", 400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, 0},
		{"GLM, by code", 400, `{"error":{"code":"1261","message":"Prompt 超长"}}`, 0},
		{"Bedrock", 400, `{"message":"Input is too long for requested model."}`, 0},
		{"llama.cpp", 400, `{"error":{"code":400,"message":"request (4886 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":4886,"n_ctx":4096}}`, 4096},
		{"a proxy", 413, `<html><title>413 Request Entity Too Large</title></html>`, 0},
		{"nothing", 413, ``, 0},
		{"Mistral", 400, `{"object":"error","message":"Prompt contains 50000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error"}`, 32768},
		{"GitHub", 400, `{"error":{"message":"prompt token count of 70949 exceeds the limit of 64000","code":"model_max_prompt_tokens_exceeded"}}`, 64000},
		{"vLLM", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","code":400}`, 4096},
		{"vLLM, newer", 400, `{"error":{"message":"The decoder prompt (length 9000) is longer than the maximum model length of 8192.","code":400}}`, 8192},
		{"SGLang", 400, `{"object":"error","message":"The input (9000 tokens) is longer than the model's context length (8192 tokens)."}`, 8192},
		{"TGI", 422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`\"}", 4096},
		{"Together", 400, "{\"error\":{\"message\":\"Input validation error: `inputs` must have less than 4096 tokens. Given: 5000\"}}", 4096},
		{"Fireworks", 400, `{"error":{"message":"The prompt is too long: 10000, model maximum context length: 4096"}}`, 4096},
		{"Cohere", 400, `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000."}`, 0},
		{"Gemini", 400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, 0},
		{"Groq", 400, `{"error":{"message":"Please reduce the length of the messages or completion.","code":"context_length_exceeded"}}`, 0},
		{"Cerebras", 400, `{"message":"Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192","code":"context_length_exceeded"}`, 8192},
		{"Ollama", 400, `{"error":"the input length exceeds the context length"}`, 0},
		{"LM Studio", 400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length"}`, 0},
		{"OpenRouter", 400, `{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens","code":400}}`, 131072},
		{"DeepSeek", 400, `{"error":{"message":"This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion."}}`, 65536},
		{"MiniMax", 400, `{"error":{"message":"invalid params, context window exceeds limit (2013)"}}`, 0},
		{"a gateway", 500, `{"error":{"message":"litellm.ContextWindowExceededError: the request exceeds the model's context"}}`, 0},
		{"Chinese", 400, `{"error":{"message":"输入内容超出模型上下文长度"}}`, 0},
		{"a stream", 0, `{"error":{"message":"Your conversation is too long for this model"}}`, 0},
		{"SGLang, of both lengths", 400, `{"message":"Input length (34567 tokens) exceeds the maximum allowed length (32768 tokens)."}`, 32768},
		{"both numbers", 400, `{"error":"Input length 131072 exceeds maximum context length 8192"}`, 8192},
		{"compared", 400, `{"error":"prompt length 40000 > context size 8192"}`, 8192},
		{"SiliconFlow", 400, `{"code":20015,"message":"length of prompt_tokens (9000) must be less than max_seq_len (8192)."}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parseProblem([]byte(c.body))
			m := statusModelError(c.status, p, p.text)
			require.Equal(t, protocol.ErrorContextWindowExceeded, m.Info.Kind, p.text)
			require.Equal(t, c.window, m.Window)
		})
	}
}

// TestOtherLimitsAreNotThoseOfThePrompt has errors that name lengths, tokens and limits of something else.
func TestOtherLimitsAreNotThoseOfThePrompt(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"output tokens": {400, `{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.","param":"max_tokens"}}`},
		"an id":         {400, `{"error":{"message":"Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 43 instead.","code":"string_above_max_length"}}`},
		"a rate":        {429, `{"error":{"message":"Rate limit reached: input tokens per minute exceeded"}}`},
		"credit":        {402, `{"error":{"message":"The prompt exceeds your credit"}}`},
		"a schema":      {400, `{"error":{"message":"Invalid schema for function 'f': array schema missing items."}}`},
		"a member":      {400, `{"error":{"message":"Unknown parameter: 'text'.","param":"text"}}`},
		"a role":        {400, `{"error":{"message":"conversation roles must alternate user/assistant/user/assistant"}}`},
		"an image":      {400, `{"error":{"message":"image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"}}`},
		"a key":         {401, `{"error":{"message":"Incorrect API key provided"}}`},
	} {
		p := parseProblem([]byte(c.body))
		require.NotEqual(t, protocol.ErrorContextWindowExceeded, statusModelError(c.status, p, p.text).Info.Kind, name)
	}
}
