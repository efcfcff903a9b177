package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/sourcegraph/jsonrpc2"

	"appserver/protocol"
)

// maxQuoted bounds what an error message quotes of the client's own words.
const maxQuoted = 200

// ask queues a question. An open one with the same id is asked anew: only the
// answer to the later counts.
func (c *conn) sendServerRequest(id uint64, method string, params any, answer func(json.RawMessage, error)) {
	ctx, cancel := context.WithCancel(context.Background())
	q := &serverRequest{
		id: id, method: method, params: params, onResponse: answer, ctx: ctx, cancel: cancel,
		bytes: entryOverhead + estimate(params, c.server.limits.congestion),
	}
	c.queueServerRequest(q)
}

// queue opens a question in place of an earlier one with its id.
func (c *conn) queueServerRequest(q *serverRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if earlier := c.serverRequests[q.id]; earlier != nil {
		earlier.cancel()
	}
	c.serverRequests[q.id] = q
	c.nextRequestID = max(c.nextRequestID, q.id+1)
	c.out.add(q)
}

// await waits for the answer to a question and passes it on, unless the question
// was resolved or the connection closed.
func (c *conn) awaitResponse(q *serverRequest, waiter jsonrpc2.Waiter) {
	var result json.RawMessage
	err := waiter.Wait(q.ctx, &result)
	var refused *jsonrpc2.Error
	switch {
	case !c.removeServerRequest(q):
	case err == nil:
		q.onResponse(result, nil)
	case errors.As(err, &refused):
		q.onResponse(nil, &protocol.Error{Code: int(refused.Code), Message: refused.Message})
	}
}

// claim takes a question off the list. It is false where that was done before.
func (c *conn) removeServerRequest(q *serverRequest) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	q.cancel()
	if c.serverRequests[q.id] != q {
		return false
	}
	delete(c.serverRequests, q.id)
	return true
}

// resolve stops waiting for the answer that a serverRequest/resolved is about.
func (c *conn) resolve(n protocol.Notification) {
	var id uint64
	switch n := n.(type) {
	case protocol.ServerRequestResolvedNotification:
		id = n.RequestID
	case *protocol.ServerRequestResolvedNotification:
		id = n.RequestID
	default:
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if q := c.serverRequests[id]; q != nil {
		q.cancel()
		delete(c.serverRequests, id)
	}
}

// readRefusal reads the error of an answer, whatever its shape: a code that is no
// integer becomes 0, and without a message the error itself is the message.
func readResponseError(raw json.RawMessage) jsonrpc2.Error {
	var code struct {
		Code int64 `json:"code"`
	}
	var message struct {
		Message string `json:"message"`
	}
	_ = protocol.Unmarshal(raw, &code)
	_ = protocol.Unmarshal(raw, &message)
	if message.Message == "" {
		message.Message = string(quote(raw))
	}
	return jsonrpc2.Error{Code: code.Code, Message: message.Message}
}

// clip is the beginning of b.
func quote(b []byte) []byte {
	return bytes.ToValidUTF8(b[:min(len(b), maxQuoted)], []byte("\ufffd"))
}
