package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"
)

// optionalMembers are the members of a request that make it cheaper or tell more,
// and that some providers refuse instead of ignoring.
var optionalMembers = []string{"prompt_cache_key", "parallel_tool_calls", "stream_options"}

// refusedMembers are the optional members that a provider was seen to refuse.
type refusedMembers struct {
	mu    sync.Mutex
	names map[string]bool
}

// learn takes note of the optional members that a refusal names. It is true where
// the request had one of them: without it the request may succeed.
func (r *refusedMembers) learn(err error) bool {
	var refusal *statusError
	if !errors.As(err, &refusal) || (refusal.status != 400 && refusal.status != 422) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	learned := false
	for _, name := range refusal.optional {
		if bytes.Contains(refusal.body, []byte(name)) {
			if r.names == nil {
				r.names = map[string]bool{}
			}
			r.names[name], learned = true, true
		}
	}
	return learned
}

// filter removes refused members from a request and gives the optional ones left.
func (r *refusedMembers) filter(members map[string]json.RawMessage) (optional []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range optionalMembers {
		if r.names[name] {
			delete(members, name)
		} else if members[name] != nil {
			optional = append(optional, name)
		}
	}
	return optional
}
