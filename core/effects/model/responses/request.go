package responses

import (
	"encoding/json"

	"appserver/core"
	"appserver/core/effects/model/refusal"
	"appserver/protocol"
)

// request is the body of a request. It has the members of the reference implementation, without
// client_metadata, which is for the vendor's statistics.
type request struct {
	Model             string                  `json:"model"`
	Instructions      string                  `json:"instructions,omitempty"`
	Input             []protocol.ResponseItem `json:"input"`
	Tools             []tool                  `json:"tools,omitempty"`
	ToolChoice        string                  `json:"tool_choice,omitempty"`
	ParallelToolCalls *bool                   `json:"parallel_tool_calls,omitempty"`
	Reasoning         *reasoning              `json:"reasoning,omitempty"`
	Store             bool                    `json:"store"`
	Stream            bool                    `json:"stream"`
	Include           []string                `json:"include,omitempty"`
	ServiceTier       string                  `json:"service_tier,omitempty"`
	PromptCacheKey    string                  `json:"prompt_cache_key,omitempty"`
	Text              *textOptions            `json:"text,omitempty"`

	from [][]int // the indices of the items of the prompt that each item of the input is made of
}

// reasoning asks for reasoning: effort is low, medium, high and so on, summary is auto, concise or
// detailed.
type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// textOptions are how long the text is, and in which form.
type textOptions struct {
	Verbosity string      `json:"verbosity,omitempty"`
	Format    *textFormat `json:"format,omitempty"`
}

// textFormat is a JSON Schema for the text.
type textFormat struct {
	Type   string          `json:"type"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
	Name   string          `json:"name"`
}

// Members of requests whose values never change.
const (
	encryptedReasoning = "reasoning.encrypted_content"
	outputSchemaName   = "codex_output_schema"
	noSummary          = "none"
)

// newRequest returns the request for p, as its model demands it.
func newRequest(p *core.Prompt, d *refusal.Demands) *request {
	limits := limitsOf(p.Model, d)
	r := &request{
		Model: p.Model, Instructions: p.Instructions, Tools: tools(p, limits),
		Reasoning: reasoningOptions(p, d), Stream: true, Include: []string{encryptedReasoning},
		ServiceTier: p.ServiceTier, Text: textOptionsOf(p, d),
	}
	r.Input, r.from = inputItems(p, limits)
	if len(r.Tools) > 0 {
		r.ToolChoice, r.ParallelToolCalls = "auto", new(true)
	}
	if p.ThreadID != "" {
		r.PromptCacheKey = p.SessionID
	}
	return r
}

func reasoningOptions(p *core.Prompt, d *refusal.Demands) *reasoning {
	r := reasoning{Effort: p.Effort}
	if effort, demanded := d.Effort(p.Effort); demanded {
		r.Effort = effort
	}
	if p.Summary != noSummary && !d.Omitted["reasoning.summary"] {
		r.Summary = p.Summary
	}
	if r == (reasoning{}) {
		return nil
	}
	return &r
}

func textOptionsOf(p *core.Prompt, d *refusal.Demands) *textOptions {
	t := &textOptions{Verbosity: p.Verbosity}
	if d.Omitted["text.verbosity"] {
		t.Verbosity = ""
	}
	if isSet(p.OutputSchema) {
		t.Format = &textFormat{Type: "json_schema", Strict: true, Schema: p.OutputSchema, Name: outputSchemaName}
	}
	if *t == (textOptions{}) {
		return nil
	}
	return t
}

// isSet reports whether a JSON value is present and not null.
func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
