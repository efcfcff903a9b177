package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
)

// Optional are members of a request that a provider may refuse instead of ignoring. A refused
// member is left out from then on. It is safe for concurrent use.
type Optional struct {
	// Members can be left out of any request. The list does not change.
	Members []string

	mu      sync.Mutex
	refused map[string]bool
}

// refusedRequest is a request that failed, and the optional members that it had.
type refusedRequest struct {
	error
	sent []string
}

// Unwrap is the failure.
func (r *refusedRequest) Unwrap() error { return r.error }

// Filter removes refused members from a request. It returns the optional members that are left.
func (o *Optional) Filter(members map[string]json.RawMessage) (sent []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range o.Members {
		if o.refused[name] {
			delete(members, name)
		} else if members[name] != nil {
			sent = append(sent, name)
		}
	}
	return sent
}

// Failed is the failure of a request that had these optional members. Learn needs to know them.
func (o *Optional) Failed(err error, sent []string) error {
	if err == nil || len(sent) == 0 {
		return err
	}
	return &refusedRequest{err, sent}
}

// Learn takes note of the optional members that a refusal names. It reports whether the request had
// one of them: without it the request may succeed.
func (o *Optional) Learn(err error) bool {
	var request *refusedRequest
	var answer *statusError
	if !errors.As(err, &request) || !errors.As(err, &answer) ||
		answer.status != http.StatusBadRequest && answer.status != http.StatusUnprocessableEntity {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	learned := false
	for _, name := range request.sent {
		if bytes.Contains(answer.body, []byte(name)) {
			if o.refused == nil {
				o.refused = map[string]bool{}
			}
			o.refused[name], learned = true, true
		}
	}
	return learned
}
