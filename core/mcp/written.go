package mcp

import (
	"encoding/json"

	"appserver/protocol"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// writtenMark is a member of a result's _meta. It is set if the server wrote isError: false,
// because the library does not distinguish that from a result without isError.
const writtenMark = "appserver/isErrorWritten"

// markWritten sets the mark in a result with isError: false. Any other result is returned as it is.
func markWritten(result json.RawMessage) json.RawMessage {
	var written struct {
		IsError *bool `json:"isError"`
	}
	if protocol.Unmarshal(result, &written) != nil || written.IsError == nil || *written.IsError {
		return result
	}
	members, meta := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if protocol.Unmarshal(result, &members) != nil {
		return result
	}
	if given := members["_meta"]; given != nil && protocol.Unmarshal(given, &meta) != nil {
		return result
	}
	if meta == nil {
		meta = map[string]json.RawMessage{}
	}
	meta[writtenMark] = json.RawMessage("true")
	var err error
	if members["_meta"], err = json.Marshal(meta); err != nil {
		return result
	}
	marked, err := json.Marshal(members)
	if err != nil {
		return result
	}
	return marked
}

// takeMark removes the mark from a result, and reports whether the server wrote isError.
func takeMark(r *sdk.CallToolResult) bool {
	_, written := r.Meta[writtenMark]
	delete(r.Meta, writtenMark)
	return written || r.IsError
}
