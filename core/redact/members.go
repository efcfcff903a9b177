package redact

import (
	"encoding/json"
	"slices"
	"strings"

	"appserver/protocol"
)

// kept tells which members of a line stay as they are, by name. Lines that tell how a thread
// is to run have texts in few of them; of others all but few are texts.
func kept(line protocol.RolloutLine) func(name string) bool {
	texts := textsOf(line)
	if texts == nil {
		return isWord
	}
	return func(name string) bool { return !slices.Contains(texts, name) }
}

// textsOf are the members with texts, nil where those of words are fewer.
func textsOf(line protocol.RolloutLine) []string {
	switch line.Type {
	case protocol.LineSessionMeta, protocol.LineTurnContext:
		return instructions()
	case protocol.LineContextEdit:
		return []string{"text"}
	case protocol.LineTrimPoint:
		return []string{"summary"}
	case protocol.LineContextBackup, protocol.LineProviderSession, protocol.LineRepaired:
		return []string{}
	case protocol.LineEventMsg:
		var event struct{ Type string }
		if json.Unmarshal(line.Payload, &event) == nil && event.Type == protocol.EventSettings {
			return instructions()
		}
	}
	return nil
}

func instructions() []string {
	return []string{"text", "instructions", "base_instructions", "user_instructions", "developer_instructions", "repository_url"}
}

// isWord tells of a member's name that its value is an id or a word of the protocol, or
// opaque.
func isWord(name string) bool {
	switch name {
	case "id", "ids", "kept", "keep_from", "type", "role", "name", "namespace", "server", "tool", "status", "phase", "kind", "reason",
		"strategy", "source", "cwd", "model", "model_provider", "encrypted_content", "timestamp":
		return true
	}
	return strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_ids") || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "Ids")
}
