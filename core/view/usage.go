package view

import (
	"appserver/core/page"
	"appserver/protocol"
)

const usagePage, maxUsagePage = 100, 1000

// Requests are the model requests of a thread, oldest first.
type Requests interface {
	// Requests returns the number of requests, Request and RequestID the i-th request and its id.
	Requests() int
	Request(i int) *protocol.StoredRequest
	RequestID(i int) string
	// FindRequest returns the index of the request with an id, or -1.
	FindRequest(id string) int
}

// UsagePage returns a page of the model requests, newest first. A cursor is the id of the last request of the
// page before.
func UsagePage(r Requests, cursor *string, limit *uint32) (protocol.ThreadUsageListResponse, *protocol.Error) {
	answer := protocol.ThreadUsageListResponse{Data: []protocol.ModelRequestUsage{},
		Total: protocol.ModelRequestTotal{Requests: r.Requests()}}
	begin := page.Descending.Begin(r.Requests())
	if cursor != nil {
		last := r.FindRequest(*cursor)
		if last < 0 {
			return answer, errCursor("cursor", *cursor)
		}
		begin = page.Descending.Next(last)
	}
	indices, more := page.Descending.Indices(begin, r.Requests(), page.Size(limit, usagePage, maxUsagePage), nil)
	for _, i := range indices {
		answer.Data = append(answer.Data, usageOf(r.RequestID(i), r.Request(i)))
	}
	if more {
		answer.NextCursor = &answer.Data[len(answer.Data)-1].RequestID
	}
	return answer, nil
}

func usageOf(id string, r *protocol.StoredRequest) protocol.ModelRequestUsage {
	u := protocol.ModelRequestUsage{
		RequestID: id, TurnID: protocol.OrNil(r.TurnID), Kind: r.Kind, Provider: r.Provider, Model: r.Model,
		Effort: protocol.OrNil(r.Effort), Revision: r.Revision, Items: r.Items,
		StartedAtMs: r.StartedAt, DurationMs: r.DurationMs, Error: protocol.OrNil(r.Error),
	}
	if r.Usage != nil {
		u.Tokens = new(r.Usage.Breakdown())
	}
	return u
}
