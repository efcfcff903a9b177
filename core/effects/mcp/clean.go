package mcp

import (
	"bytes"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"appserver/protocol"
)

var toolsMember = []byte(`"tools"`)

// cleanResult returns a result in a form that the library decodes.
func cleanResult(result json.RawMessage) json.RawMessage { return carry(cleanTools(result)) }

// cleanTools returns the result of tools/list without what the library cannot decode, because it would refuse all
// tools for one of them. Any other result is returned as it is.
func cleanTools(result json.RawMessage) json.RawMessage {
	if !bytes.Contains(result, toolsMember) || protocol.Unmarshal(result, &sdk.ListToolsResult{}) == nil {
		return result
	}
	var list struct {
		Tools      []json.RawMessage `json:"tools"`
		NextCursor any               `json:"nextCursor"`
	}
	if protocol.Unmarshal(result, &list) != nil {
		return result
	}
	clean := map[string]any{}
	if cursor, ok := list.NextCursor.(string); ok {
		clean["nextCursor"] = cursor
	}
	tools := []json.RawMessage{}
	for _, tool := range list.Tools {
		tools = append(tools, cleanTool(tool))
	}
	clean["tools"] = tools
	raw, err := protocol.Marshal(clean)
	if err != nil {
		return result
	}
	return raw
}

// cleanTool returns a tool that the library can decode: its name, its description and its schema, if it has
// them. Its hints are left out, so the user is asked before it is called.
func cleanTool(tool json.RawMessage) json.RawMessage {
	if protocol.Unmarshal(tool, &sdk.Tool{}) == nil {
		return tool
	}
	var members map[string]json.RawMessage
	if protocol.Unmarshal(tool, &members) != nil {
		return json.RawMessage(`{"name":""}`)
	}
	clean := map[string]any{}
	for _, name := range []string{"name", "description"} {
		var text string
		_ = protocol.Unmarshal(members[name], &text) // empty if it is no text
		clean[name] = text
	}
	if schema := members["inputSchema"]; schema != nil {
		clean["inputSchema"] = schema
	}
	raw, _ := protocol.Marshal(clean) // texts and JSON can always be encoded
	return raw
}
