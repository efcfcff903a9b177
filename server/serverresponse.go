package server

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"go.uber.org/zap"

	"appserver/protocol"
)

// maxRepeats is how often a question is asked again for answers that name no question.
const maxResends = 2

// admitAnswer returns the stub of an answer to an open question, or nil. A malformed answer
// becomes an error, so that nothing runs and nothing waits for another one. An answer that names
// no question has the open ones asked again. One that comes late is dropped.
func (c *conn) admitResponse(m *incoming) []byte {
	id, ok := parseServerRequestID(m.id)
	switch {
	case ok && c.isPending(id):
		if fault := m.responseFault(); fault != "" {
			m.result, m.errorMember = nil, malformedResponse(fault)
		}
		return responseStub(id, isSet(m.errorMember))
	case ok && c.wasAsked(id):
		c.log.Warn("answer dropped: it comes late", zap.Uint64("id", id))
	default:
		c.log.Warn("answer dropped: its id is of no question", zap.ByteString("id", quote(m.id)))
		c.resendServerRequests()
	}
	return nil
}

// questionOf returns the id of a question. It must be the number that the question had.
func parseServerRequestID(raw json.RawMessage) (id uint64, ok bool) {
	id, err := strconv.ParseUint(string(raw), 10, 64)
	return id, err == nil
}

// answerFault says what makes an answer malformed, or "".
func (m *incoming) responseFault() string {
	switch {
	case m.method != nil:
		return "it has a method"
	case m.duplicate || protocol.RepeatsName(m.result):
		return "a name occurs twice in it"
	case isSet(m.errorMember) && isSet(m.result):
		return "it has both a result and an error"
	case !isSet(m.errorMember) && m.result == nil:
		return "it has neither a result nor an error"
	}
	return ""
}

// malformedAnswer is the error that stands for a malformed answer.
func malformedResponse(fault string) json.RawMessage {
	raw, _ := protocol.Marshal(map[string]any{"code": protocol.CodeInvalidRequest, "message": "malformed answer: " + fault}) // a number and a text
	return raw
}

// askAgain repeats the open questions, each some times at most. It declines none: the answer may be
// meant for a question that is answered already. A question that is repeated waits for its answer as
// before, so that a right answer counts that is on its way.
func (c *conn) resendServerRequests() {
	c.mu.Lock()
	open := slices.SortedFunc(maps.Values(c.serverRequests), func(a, b *serverRequest) int { return int(a.id) - int(b.id) })
	open = slices.DeleteFunc(open, func(q *serverRequest) bool { return q.resent >= maxResends })
	c.mu.Unlock()
	if len(open) == 0 {
		return
	}
	c.notify(protocol.WarningNotification{Message: "An answer has no id of an open request, and was dropped. " +
		"Open requests are sent again. Answer with the id of the request, as a number."})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range open {
		if c.serverRequests[q.id] == q { // a repeated one comes before the notification that it is resolved
			q.resent++
			c.out.add(resentRequest{q})
		}
	}
}

// open reports whether an answer is awaited.
func (c *conn) isPending(id uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.serverRequests[id] != nil
}

// wasAsked reports whether a question with this id may have been asked before.
func (c *conn) wasAsked(id uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return id < c.nextRequestID
}
