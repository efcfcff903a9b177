package state

import (
	"slices"
	"strconv"
	"strings"

	"appserver/core/lineref"
	"appserver/protocol"
)

// request refers to the line of a model request.
type request struct {
	Ordinal int64
	ref     lineref.Ref
}

// addRequest adds a model request. Its line is read again when a client asks for it.
func (s *State) addRequest(ordinal int64, ref lineref.Ref, r *protocol.StoredRequest) {
	if r.Usage != nil {
		s.Requested = s.Requested.Add(r.Usage.Breakdown())
	}
	if s.Texts == nil {
		s.Texts = map[string]int{}
	}
	if _, known := s.Texts[r.SystemID]; !known && r.System != nil {
		s.Texts[r.SystemID] = len(s.requests)
	}
	if _, known := s.Texts[r.ToolsID]; !known && r.Tools != nil {
		s.Texts[r.ToolsID] = len(s.requests)
	}
	ref.Evict()
	s.requests = append(s.requests, request{ordinal, ref})
}

// Requests returns the number of model requests.
func (s *State) Requests() int { return len(s.requests) }

// Request returns the i-th model request. It is empty if its line cannot be read now.
func (s *State) Request(i int) *protocol.StoredRequest {
	raw, _ := s.requests[i].ref.Payload()
	var e protocol.TokenCount
	if protocol.Unmarshal(raw, &e) != nil || e.Request == nil {
		return &protocol.StoredRequest{}
	}
	return e.Request
}

// RequestID returns the id of the i-th model request: "m" and the ordinal of its line.
func (s *State) RequestID(i int) string { return "m" + strconv.FormatInt(s.requests[i].Ordinal, 10) }

// FindRequest returns the index of the model request with an id, or -1.
func (s *State) FindRequest(id string) int {
	number, ok := strings.CutPrefix(id, "m")
	ordinal, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil {
		return -1
	}
	i := slices.IndexFunc(s.requests, func(r request) bool { return r.Ordinal == ordinal })
	if i < 0 || s.RequestID(i) != id {
		return -1
	}
	return i
}

// readRequests reads the model requests of a snapshot.
func (s *State) readRequests(head *snapshotHead) bool {
	if len(head.Requests) != len(head.RequestLines) {
		return false
	}
	for i, ordinal := range head.Requests {
		s.requests = append(s.requests, request{ordinal,
			lineref.Ref{Source: s.from, Line: head.RequestLines[i], Part: lineref.Whole}})
	}
	return true
}
