package transcript

import (
	"encoding/json"

	"appserver/protocol"
)

// serverCallType is the type of a call of a server's tool in item_completed events.
const serverCallType = "McpToolCall"

type storedServerCall struct {
	Type         string                     `json:"type"`
	ID           string                     `json:"id"`
	Server       string                     `json:"server"`
	Tool         string                     `json:"tool"`
	Arguments    json.RawMessage            `json:"arguments"`
	ReadOnlyHint *bool                      `json:"readOnlyHint,omitempty"`
	Status       string                     `json:"status"`
	Result       *storedServerResult        `json:"result,omitempty"`
	Error        *protocol.McpToolCallError `json:"error,omitempty"`
	Duration     *storedDuration            `json:"duration,omitempty"`
}

type storedServerResult struct {
	Content           []json.RawMessage `json:"content"`
	StructuredContent json.RawMessage   `json:"structuredContent,omitempty"`
	IsError           bool              `json:"isError,omitempty"`
	Meta              json.RawMessage   `json:"_meta,omitempty"`
}

func encodeServerCall(v *protocol.McpToolCallItem) storedServerCall {
	s := storedServerCall{Type: serverCallType, ID: v.ID, Server: v.Server, Tool: v.Tool, Arguments: v.Arguments,
		ReadOnlyHint: v.ReadOnlyHint, Status: protocol.SnakeCase(v.Status), Error: v.Error}
	if r := v.Result; r != nil {
		s.Result = &storedServerResult{r.Content, r.StructuredContent, v.Status == protocol.McpCallFailed, r.Meta}
	}
	if v.DurationMs != nil {
		s.Duration = &storedDuration{*v.DurationMs / 1000, *v.DurationMs % 1000 * 1e6}
	}
	return s
}

func decodeServerCall(raw json.RawMessage) protocol.ThreadItemVariant {
	var s storedServerCall
	if protocol.Unmarshal(raw, &s) != nil {
		return nil
	}
	v := &protocol.McpToolCallItem{ID: s.ID, Server: s.Server, Tool: s.Tool, Status: protocol.CamelCase(s.Status),
		Arguments: s.Arguments, ReadOnlyHint: s.ReadOnlyHint, Error: s.Error}
	if s.Result != nil {
		v.Result = &protocol.McpToolCallResult{
			Content:           orEmpty(s.Result.Content),
			StructuredContent: s.Result.StructuredContent,
			Meta:              s.Result.Meta,
		}
	}
	if s.Duration != nil {
		v.DurationMs = new(s.Duration.Secs*1000 + s.Duration.Nanos/1e6)
	}
	return v
}
