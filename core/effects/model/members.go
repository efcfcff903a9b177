package model

import (
	"encoding/json"
	"maps"
	"slices"

	"appserver/protocol"
)

// EncodeObject returns a JSON object with the members in the order of their names. It copies the values, which are
// valid JSON. protocol.Marshal would check and compact them again.
func EncodeObject(members map[string]json.RawMessage) []byte {
	size := 2
	for name, value := range members {
		size += len(name) + len(value) + len(`"":,`)
	}
	b := append(make([]byte, 0, size), '{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(protocol.AppendString(b, name), ':'), members[name]...)
	}
	return append(b, '}')
}

// EncodeList returns a JSON array of values, which are valid JSON.
func EncodeList(values []json.RawMessage) []byte {
	size := 2
	for _, value := range values {
		size += len(value) + 1
	}
	b := append(make([]byte, 0, size), '[')
	for i, value := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, value...)
	}
	return append(b, ']')
}
