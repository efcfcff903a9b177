package redact

import (
	"slices"
	"strings"

	"appserver/protocol"
)

// reach is who may change a member.
type reach int

const (
	everybody reach = iota
	detectorsAlone
	nobody
)

// reachOf tells who may change the members of a line, by name. Lines that tell how a thread
// is to run have texts in few of them. Of others all but ids are open to the detectors, which
// find nothing in words of the protocol: such a name may be one in what a tool was given, too.
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

// textsOf are the members with texts, nil where those of words are fewer.
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

// isID tells of a member's name that its value names something, or is opaque: it never
// changes.
func isID(name string) bool {
	switch name {
	case "id", "ids", "kept", "keep_from", "cwd", "encrypted_content", "timestamp":
		return true
	}
	return strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "_ids") || strings.HasSuffix(name, "Id") ||
		strings.HasSuffix(name, "Ids")
}

// isWord tells of a member's name that its value is a word of the protocol, or the name of a
// tool.
func isWord(name string) bool {
	switch name {
	case "type", "role", "name", "namespace", "server", "tool", "status", "phase", "kind", "reason", "strategy", "source",
		"model", "model_provider":
		return true
	}
	return false
}
