package toolschema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"appserver/protocol"
)

// maxName is the longest name of a property that all APIs accept.
const maxName = 64

// rename returns the name of a property in the normal form. Another name ends with a hash of the original one, so
// that it is the same wherever that one is used.
func (r *reader) rename(name string) string {
	if isAccepted(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	mark := "_" + hex.EncodeToString(sum[:4])
	given := strings.Trim(strings.Map(accepted, name[:min(len(name), maxName)]), "_")
	given = given[:min(len(given), maxName-len(mark))] + mark
	if r.renamed == nil {
		r.renamed = map[string]string{}
	}
	r.renamed[given] = name
	return given
}

func isAccepted(name string) bool {
	return name != "" && len(name) <= maxName && strings.Map(accepted, name) == name
}

// accepted returns a character of a name, or an underscore in its place.
func accepted(char rune) rune {
	switch {
	case 'a' <= char && char <= 'z', 'A' <= char && char <= 'Z', '0' <= char && char <= '9',
		char == '_', char == '-', char == '.':
		return char
	}
	return '_'
}

// Schema is a normalized schema of a tool's arguments.
type Schema struct {
	// JSON is the schema.
	JSON json.RawMessage
	// Original is the schema that was normalized, or nil if that is no JSON.
	Original json.RawMessage
	// renamed has the original names of properties by the names in JSON, or is nil.
	renamed map[string]string
}

// Restore returns the arguments of a call with the original names of properties.
func (s *Schema) Restore(arguments json.RawMessage) json.RawMessage {
	if len(s.renamed) == 0 || !protocol.Valid(arguments) {
		return arguments
	}
	return s.restore(arguments, 2*levels[0].depth)
}

// restore restores the names down to a depth. Schemas have none below.
func (s *Schema) restore(value json.RawMessage, depth int) json.RawMessage {
	value = bytes.TrimSpace(value)
	if depth == 0 || len(value) == 0 || value[0] != '{' && value[0] != '[' {
		return value
	}
	var list []json.RawMessage
	var members map[string]json.RawMessage
	var changed any = list
	if value[0] == '[' && protocol.Unmarshal(value, &list) == nil {
		for i := range list {
			list[i] = s.restore(list[i], depth-1)
		}
		changed = list
	} else if protocol.Unmarshal(value, &members) == nil {
		changed = s.restoreMembers(members, depth)
	}
	if raw, err := protocol.Marshal(changed); err == nil {
		return raw
	}
	return value
}

func (s *Schema) restoreMembers(members map[string]json.RawMessage, depth int) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(members))
	for name, member := range members {
		if original, renamed := s.renamed[name]; renamed {
			name = original
		}
		out[name] = s.restore(member, depth-1)
	}
	return out
}
