package redact

import (
	"slices"
	"strings"

	"appserver/protocol"
)

// reach is the kind of expressions that may change a member.
type reach int

const (
	everybody reach = iota
	detectorsAlone
	nobody
)

// reachOf returns a function with the reach of a line's members by name. Lines with settings of a
// thread have texts in few members. In other lines the detectors may change all members except ids.
// They find nothing in words of the protocol, and a tool's input may have a member with the same name.
func reachOf(line protocol.RolloutLine) func(name string) reach {
	texts := textsOf(line)
	return func(name string) reach {
		switch {
		case texts != nil && !slices.Contains(texts, name), isID(name):
			return nobody
		case texts == nil && isWord(name):
			return detectorsAlone
		}
		return everybody
	}
}

// textsOf returns the members with texts, or nil if those with words are fewer.
func textsOf(line protocol.RolloutLine) []string {
	switch line.Type {
	case protocol.LineSessionMeta, protocol.LineTurnContext:
		return instructions()
	case protocol.LineContextEdit:
		return []string{"text"}
	case protocol.LineTrimPoint:
		return []string{"summary"}
	case protocol.LineContextBackup, protocol.LineProviderSession, protocol.LineRepaired, protocol.LineCheckpoint,
		protocol.LineWorktreeChanges:
		return []string{}
	case protocol.LineEventMsg:
		var event struct {
			Type string `json:"type"`
		}
		if protocol.Unmarshal(line.Payload, &event) == nil && event.Type == protocol.EventSettings {
			return instructions()
		}
	}
	return nil
}

func instructions() []string {
	return []string{"text", "instructions", "base_instructions", "user_instructions", "developer_instructions",
		"repository_url", "branch"}
}

// isID reports whether a member of that name identifies something or is opaque. It never changes.
func isID(name string) bool {
	switch name {
	case "id", "ids", "kept", "keep_from", "cwd", "encrypted_content", "timestamp":
		return true
	}
	return strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_ids") || strings.HasSuffix(name, "Id") ||
		strings.HasSuffix(name, "Ids")
}

// isWord reports whether a member of that name is a word of the protocol, or the name of a tool.
func isWord(name string) bool {
	switch name {
	case "type", "role", "name", "namespace", "server", "tool", "status", "phase", "kind", "reason", "strategy", "source",
		"model", "model_provider":
		return true
	}
	return false
}
