package model

import (
	"encoding/json"
	"maps"

	"appserver/protocol"
)

// Extra are members that the user adds to requests, and a limit of output tokens. Members is a JSON object, or "". A
// MaxOutput of 0 is no limit.
type Extra struct {
	Members   string
	MaxOutput int64
}

// mergeMembers adds members. Objects are merged, and other values replaced.
func mergeMembers(to, added map[string]json.RawMessage) {
	for name, value := range added {
		var old, more map[string]json.RawMessage
		if protocol.Unmarshal(to[name], &old) == nil && protocol.Unmarshal(value, &more) == nil && old != nil && more != nil {
			merged := maps.Clone(old)
			mergeMembers(merged, more)
			value = EncodeObject(merged)
		}
		to[name] = value
	}
}
