package model

import (
	"encoding/json"
	"maps"
	"strconv"

	"appserver/core"
	"appserver/protocol"
)

// Extra are members that the user adds to requests, and a limit of output tokens. Members is a JSON object, or "". A
// MaxOutput of 0 is no limit.
type Extra struct {
	Members   string
	MaxOutput int64
}

// Extend adds the members of the endpoint, and then those for a model, to a request. An object is merged with the one
// that is there. limit names the member for the limit of output tokens.
func (e *Endpoint) Extend(members map[string]json.RawMessage, model, limit string) {
	own, known := e.ModelExtra[model]
	for name, extra := range e.ModelExtra {
		if m := (core.ListedModel{ID: name}); !known && m.Named(model) {
			own = extra
		}
	}
	maxOutput := e.Extra.MaxOutput
	if own.MaxOutput > 0 {
		maxOutput = own.MaxOutput
	}
	if maxOutput > 0 {
		members[limit] = strconv.AppendInt(nil, maxOutput, 10)
	}
	for _, extra := range []string{e.Extra.Members, own.Members} {
		var added map[string]json.RawMessage
		if extra != "" && protocol.Unmarshal([]byte(extra), &added) == nil {
			mergeMembers(members, added)
		}
	}
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
