package chat

import (
	"encoding/json"
	"fmt"

	"appserver/core"
	"appserver/protocol"

	openai "github.com/sashabaranov/go-openai"
)

// neutralModel is the name that go-openai receives, because it rejects requests by the names of
// models, even for another provider.
const neutralModel = "model"

// body is the part of a prompt's request that go-openai can express.
func body(p *core.Prompt) openai.ChatCompletionRequest {
	r := openai.ChatCompletionRequest{
		Model:         neutralModel,
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
		ServiceTier:   openai.ServiceTier(p.ServiceTier),
	}
	for _, tool := range p.Tools {
		r.Tools = append(r.Tools, functionTool(tool))
	}
	if len(r.Tools) > 0 {
		r.ParallelToolCalls = true
	}
	if p.Effort != openai.ReasoningEffortNone {
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

func functionTool(t core.ToolSpec) openai.Tool {
	f := &openai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
	if !isSet(t.Parameters) {
		f.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return openai.Tool{Type: openai.ToolTypeFunction, Function: f}
}

// isSet reports whether a JSON value is present and not null.
func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// overrides are the members of a request that go-openai leaves out or alters: it
// knows no prompt_cache_key, checks the model's name, and drops empty contents.
func overrides(p *core.Prompt, messages []Message) (map[string]json.RawMessage, error) {
	list, err := encodeAll(messages)
	if err != nil {
		return nil, err
	}
	members := map[string]any{"model": p.Model}
	if p.ThreadID != "" {
		members["prompt_cache_key"] = p.SessionID
	}
	raw := map[string]json.RawMessage{"messages": list}
	for name, value := range members {
		b, err := protocol.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("writing %s of the request: %w", name, err)
		}
		raw[name] = b
	}
	return raw, nil
}
