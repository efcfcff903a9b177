package server

import (
	"context"
	"encoding/json"
	"errors"

	"appserver/protocol"
)

// sendServerRequest queues a request to the client. It replaces an open request with the same
// id.
func (c *conn) sendServerRequest(id uint64, method string, params any, answer func(json.RawMessage, error)) {
	ctx, cancel := context.WithCancel(context.Background())
	q := &serverRequest{
		id: id, method: method, params: params, onResponse: answer, ctx: ctx, cancel: cancel,
		bytes: entryOverhead + estimate(params, c.server.limits.congestion),
	}
	q.await = func(response awaited) { c.awaitResponse(q, response) }
	c.queueServerRequest(q)
}

// queueServerRequest registers a request and queues it. An earlier request with the same id is
// cancelled.
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

// awaitResponse waits for a response and passes it to onResponse, unless the request is
// resolved or the connection ends first.
func (c *conn) awaitResponse(q *serverRequest, response awaited) {
	result, err := response(q.ctx)
	var refused *protocol.Error
	switch {
	case !c.removeServerRequest(q):
	case err == nil:
		q.onResponse(result, nil)
	case errors.As(err, &refused):
		q.onResponse(nil, refused)
	}
}

// removeServerRequest removes an open request. It returns false if the request was resolved or
// replaced before.
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

// resolve cancels the request of a serverRequest/resolved notification.
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
	c.withdraw(id)
}

// withdraw forgets an open request. A later response to it has no effect.
func (c *conn) withdraw(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if q := c.serverRequests[id]; q != nil {
		q.cancel()
		delete(c.serverRequests, id)
	}
}

// readResponseError decodes the error of a response leniently. A code that is not an integer
// becomes 0. Without a message, the raw error is the message.
func readResponseError(raw json.RawMessage) *protocol.Error {
	var code struct {
		Code int `json:"code"`
	}
	var message struct {
		Message string `json:"message"`
	}
	_ = protocol.Unmarshal(raw, &code)
	_ = protocol.Unmarshal(raw, &message)
	if message.Message == "" {
		message.Message = string(quote(raw))
	}
	return &protocol.Error{Code: code.Code, Message: message.Message}
}
