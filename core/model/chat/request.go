package chat

import (
	"encoding/json"

	"appserver/core"
	"appserver/core/model"
	"appserver/core/model/refusal"
	"appserver/protocol"

	openai "github.com/sashabaranov/go-openai"
)

// neutralModel is the name that go-openai receives, because it rejects requests by the names of
// models, even for another provider.
const neutralModel = "model"

// limitMember returns the name of the limit of output tokens. All providers know the first one.
func limitMember(d *refusal.Demands) string {
	if d.CompletionLimit {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// body returns the part of a prompt's request that go-openai can express. none is set if the
// endpoint takes the effort none.
func body(p *core.Prompt, d *refusal.Demands, none bool) openai.ChatCompletionRequest {
	r := openai.ChatCompletionRequest{
		Model:         neutralModel,
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
		ServiceTier:   openai.ServiceTier(p.ServiceTier),
	}
	if len(p.Tools) > 0 {
		r.ParallelToolCalls = true
	}
	if effort, demanded := d.Effort(p.Effort); demanded {
		r.ReasoningEffort = effort
	} else if none || p.Effort != openai.ReasoningEffortNone {
		r.ReasoningEffort = p.Effort
	}
	if isSet(p.OutputSchema) {
		r.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{
				Name: "codex_output_schema", Schema: p.OutputSchema, Strict: true,
			},
		}
	}
	return r
}

// isSet reports whether a JSON value is present and not null.
func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// overrides returns the members of a request that go-openai leaves out, alters or encodes anew each time: it
// knows no prompt_cache_key, checks the model's name, and drops empty contents.
func overrides(p *core.Prompt, messages []Message, tools []json.RawMessage) (map[string]json.RawMessage, error) {
	list, err := encodeAll(messages)
	if err != nil {
		return nil, err
	}
	raw := map[string]json.RawMessage{"model": protocol.AppendString(nil, p.Model), "messages": list}
	if p.ThreadID != "" {
		raw["prompt_cache_key"] = protocol.AppendString(nil, p.SessionID)
	}
	if len(tools) > 0 {
		raw["tools"] = model.EncodeList(tools)
	}
	return raw, nil
}
