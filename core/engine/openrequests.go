package engine

import (
	"cmp"
	"slices"
	"strconv"

	"appserver/core"
	"appserver/core/pure/page"
	"appserver/protocol"
)

// ServerRequestList lists the requests to clients that no client has answered, oldest first.
func (e *Engine) ServerRequestList(to protocol.Caller, p *protocol.ServerRequestListParams) error {
	if p.ThreadID != nil {
		if err := checkID("invalid thread id", *p.ThreadID); err != nil {
			return err
		}
	}
	first, err := requestCursor(p.Cursor)
	if err != nil {
		return err
	}
	open := []protocol.OpenServerRequest{}
	for _, a := range e.actors() {
		if p.ThreadID != nil && *p.ThreadID != a.id {
			continue
		}
		for _, r := range a.openRequests() {
			if r.ID >= first {
				open = append(open, openRequest(a.id, r))
			}
		}
	}
	slices.SortFunc(open, func(a, b protocol.OpenServerRequest) int { return cmp.Compare(a.RequestID, b.RequestID) })
	listed, more := page.First(open, page.Size(p.Limit, page.Unlimited, page.Unlimited))
	answer := protocol.ServerRequestListResponse{Data: listed}
	if more {
		answer.NextCursor = new(strconv.FormatUint(listed[len(listed)-1].RequestID, 10))
	}
	e.parts.Outbox.Reply(to, answer)
	return nil
}

// requestCursor returns the smallest id of a page. Later requests have larger ids.
func requestCursor(cursor *string) (uint64, error) {
	if cursor == nil {
		return 0, nil
	}
	id, err := strconv.ParseUint(*cursor, 10, 64)
	if err != nil {
		return 0, protocol.InvalidParams("cursor", "invalid cursor: %s", *cursor)
	}
	return id + 1, nil
}

func openRequest(threadID string, r core.OpenRequest) protocol.OpenServerRequest {
	return protocol.OpenServerRequest{
		RequestID: r.ID, ThreadID: threadID, TurnID: r.TurnID, ItemID: r.ItemID, Method: r.Method, Params: r.Params,
		AskedAt: r.AskedAt.Unix(),
	}
}
