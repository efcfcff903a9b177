package chat

import (
	"encoding/json"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/refusal"
	"appserver/protocol"
)

// limitMember returns the name of the limit of output tokens. All providers know the first one.
func limitMember(d *refusal.Demands) string {
	if d.CompletionLimit {
		return "max_completion_tokens"
	}
	return "max_tokens"
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
