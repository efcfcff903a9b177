package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"appserver/core"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// carriedMember is a member of a result's _meta with the result as the server wrote it, as a text. The library would
// refuse a result for one block of an unknown kind or with broken base64, would round large numbers, and does not
// report isError: false.
const carriedMember = "appserver/result"

// carried is the result of tools/call or resources/read.
type carried struct {
	Content    json.RawMessage `json:"content"`
	Contents   json.RawMessage `json:"contents"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    json.RawMessage `json:"isError"`
	Meta       json.RawMessage `json:"_meta"`
}

// carry returns the result of a call, or the contents of a resource, in the carried form. Other results stay.
func carry(result json.RawMessage) json.RawMessage {
	if !bytes.Contains(result, []byte(`ontent`)) && !bytes.Contains(result, []byte(`"isError"`)) {
		return result
	}
	var r carried
	if protocol.Unmarshal(result, &r) != nil || r.Content == nil && r.Contents == nil && r.Structured == nil &&
		r.IsError == nil {
		return result
	}
	raw, err := protocol.Marshal(map[string]any{"content": []any{}, "contents": []any{},
		"_meta": map[string]string{carriedMember: string(result)}})
	if err != nil {
		return result
	}
	return raw
}

// uncarried returns the part of the result that carry removed. It is empty for a result that carry
// did not change.
func uncarried(meta sdk.Meta) (r carried) {
	text, _ := meta[carriedMember].(string)
	_ = protocol.Unmarshal(protocol.ToWellFormed([]byte(text)), &r) // empty if it is no object
	return r
}

// blocks returns a list of content blocks. A server may send a text or a single block in its place.
func blocks(raw json.RawMessage) []json.RawMessage {
	list := []json.RawMessage{}
	if raw != nil && protocol.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for i, block := range list {
		if block = bytes.TrimSpace(block); len(block) == 0 || block[0] != '{' {
			var text string
			if protocol.Unmarshal(block, &text) != nil || text == "" {
				text = string(block)
			}
			list[i] = toJSON(&sdk.TextContent{Text: text})
		}
	}
	return slices.Clip(list)
}

// resultOf returns a result of tools/call, without limits.
func resultOf(r *sdk.CallToolResult) *core.ServerToolResult {
	given := uncarried(r.Meta)
	out := &core.ServerToolResult{Content: blocks(given.Content), Failed: string(given.IsError) == "true",
		FailedWritten: string(given.IsError) == "true" || string(given.IsError) == "false"}
	if string(given.Structured) != "null" {
		out.Structured = given.Structured
	}
	if bytes.HasPrefix(given.Meta, []byte("{")) {
		out.Meta = given.Meta
	}
	return out
}

// maxResult bounds the stored part of a result, in bytes.
const maxResult = 1 << 20

// limit removes the part of a result beyond the limit.
func limit(r *core.ServerToolResult) {
	left, content := maxResult, []json.RawMessage{}
	for _, block := range r.Content {
		block = limitBlock(block, left)
		left -= len(block)
		content = append(content, block)
		if left <= 0 {
			break
		}
	}
	r.Content = content
	if len(r.Structured) > maxResult {
		r.Structured = nil
	}
	if len(r.Meta) > maxResult {
		r.Meta = nil
	}
}

// limitBlock shortens a block to about limit bytes. Texts lose their middle. A note replaces any other block.
func limitBlock(block json.RawMessage, limit int) json.RawMessage {
	if len(block) <= limit {
		return block
	}
	var t struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if protocol.Unmarshal(block, &t) == nil && t.Type == "text" {
		return toJSON(&sdk.TextContent{Text: excerpt.Ends(t.Text, max(limit/2, 0))})
	}
	return toJSON(&sdk.TextContent{Text: omittedText(len(block))})
}

// omittedText returns the note in place of a block beyond the limit.
func omittedText(size int) string {
	return fmt.Sprintf("[content of %d bytes omitted: a result has at most %d bytes]", size, maxResult)
}

// toJSON returns a value of the library as JSON, which never fails.
func toJSON(v any) json.RawMessage {
	raw, _ := json.Marshal(v)
	return raw
}
