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
func (c *conn) ask(id uint64, method string, params any, answer func(json.RawMessage, error)) {
	ctx, cancel := context.WithCancel(context.Background())
	q := &question{
		id: id, method: method, params: params, answer: answer, ctx: ctx, cancel: cancel,
		bytes: entryOverhead + estimate(params, c.server.limits.congestion),
	}
	c.queue(q)
}

// queue opens a question in place of an earlier one with its id.
func (c *conn) queue(q *question) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if earlier := c.questions[q.id]; earlier != nil {
		earlier.cancel()
	}
	c.questions[q.id] = q
	c.unasked = max(c.unasked, q.id+1)
	c.out.add(q)
}

// await waits for the answer to a question and passes it on, unless the question
// was resolved or the connection closed.
func (c *conn) await(q *question, waiter jsonrpc2.Waiter) {
	var result json.RawMessage
	err := waiter.Wait(q.ctx, &result)
	var refused *jsonrpc2.Error
	switch {
	case !c.claim(q):
	case err == nil:
		q.answer(result, nil)
	case errors.As(err, &refused):
		q.answer(nil, &protocol.Error{Code: int(refused.Code), Message: refused.Message})
	}
}

// claim takes a question off the list. It is false where that was done before.
func (c *conn) claim(q *question) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	q.cancel()
	if c.questions[q.id] != q {
		return false
	}
	delete(c.questions, q.id)
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
	if q := c.questions[id]; q != nil {
		q.cancel()
		delete(c.questions, id)
	}
}

// readRefusal reads the error of an answer, whatever its shape: a code that is no
// integer becomes 0, and without a message the error itself is the message.
func readRefusal(raw json.RawMessage) jsonrpc2.Error {
	var code struct {
		Code int64 `json:"code"`
	}
	var message struct {
		Message string `json:"message"`
	}
	_ = protocol.Unmarshal(raw, &code)
	_ = protocol.Unmarshal(raw, &message)
	if message.Message == "" {
		message.Message = string(clip(raw))
	}
	return jsonrpc2.Error{Code: code.Code, Message: message.Message}
}

// clip is the beginning of b.
func clip(b []byte) []byte {
	return bytes.ToValidUTF8(b[:min(len(b), maxQuoted)], []byte("\ufffd"))
}
