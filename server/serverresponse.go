package server

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"go.uber.org/zap"

	"appserver/protocol"
)

// maxResends limits how often a request is sent again after responses with unknown ids.
const maxResends = 2

// admitResponse returns the stub of a response to an open server request, or nil. A malformed
// response becomes an error response, so that nothing is approved and the request is finished.
// A late response is dropped. After a response with an unknown id, the open requests are sent
// again.
func (c *conn) admitResponse(m *incoming) []byte {
	id, ok := parseServerRequestID(m.id)
	switch {
	case ok && c.isPending(id):
		if fault := m.responseFault(); fault != "" {
			m.result, m.errorMember = nil, malformedResponse(fault)
		}
		return responseStub(id, isSet(m.errorMember))
	case ok && c.wasAsked(id):
		c.log.Warn("late response dropped", zap.Uint64("id", id))
	default:
		c.log.Warn("response with an unknown id dropped", zap.ByteString("id", quote(m.id)))
		c.resendServerRequests()
	}
	return nil
}

// parseServerRequestID parses the id of a server request. The client must repeat the number
// unchanged.
func parseServerRequestID(raw json.RawMessage) (id uint64, ok bool) {
	id, err := strconv.ParseUint(string(raw), 10, 64)
	return id, err == nil
}

// malformedResponse returns the error that replaces a malformed response.
func malformedResponse(fault string) json.RawMessage {
	// A number and a string always encode.
	raw, _ := protocol.Marshal(map[string]any{
		"code": protocol.CodeInvalidRequest, "message": "malformed response: " + fault,
	})
	return raw
}

// resendServerRequests sends the open requests again, each at most maxResends times. It
// declines none, because the response may belong to a request that is already answered. The
// first transmission stays valid, so a correct response that is on its way counts.
func (c *conn) resendServerRequests() {
	c.mu.Lock()
	open := slices.SortedFunc(
		maps.Values(c.serverRequests),
		func(a, b *serverRequest) int { return int(a.id) - int(b.id) },
	)
	open = slices.DeleteFunc(open, func(q *serverRequest) bool { return q.resent >= maxResends })
	c.mu.Unlock()
	if len(open) == 0 {
		return
	}
	c.notify(protocol.WarningNotification{Message: "A response with an unknown id was dropped. " +
		"Open requests are sent again. Repeat the id of the request as a number."})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range open {
		if c.serverRequests[q.id] == q { // a request that was resolved meanwhile must not follow its resolved notification
			q.resent++
			c.out.add(resentRequest{q})
		}
	}
}

// isPending reports whether a response to the request is awaited.
func (c *conn) isPending(id uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.serverRequests[id] != nil
}

// wasAsked reports whether an earlier request may have used this id.
func (c *conn) wasAsked(id uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return id < c.nextRequestID
}
