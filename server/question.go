package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"
	"go.uber.org/zap"

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
	c.mu.Lock()
	defer c.mu.Unlock()
	if earlier := c.questions[id]; earlier != nil {
		earlier.cancel()
	}
	c.questions[id] = q
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

// admitAnswer gives the stub of an answer. What answers nothing that is open is dropped with
// a line in the log: a second answer that comes before the first was taken by jsonrpc2,
// others here.
func (c *conn) admitAnswer(m incoming) []byte {
	id, err := strconv.ParseUint(string(m.id), 10, 64)
	refused := present(m.failure)
	switch {
	case err != nil:
		c.log.Warn("answer dropped: unknown id", zap.ByteString("id", clip(m.id)))
	case refused && present(m.result):
		c.log.Warn("answer dropped: both result and error", zap.Uint64("id", id))
	case !refused && m.result == nil:
		c.log.Warn("answer dropped: neither result nor error", zap.Uint64("id", id))
	case !c.open(id):
		c.log.Warn("answer dropped: it comes late, or answers nothing that was asked", zap.Uint64("id", id))
	default:
		return answerStub(id, refused)
	}
	return nil
}

// open tells whether an answer is waited for.
func (c *conn) open(id uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.questions[id] != nil
}

// readRefusal reads the error of an answer, whatever its shape: a code that is no
// integer becomes 0, and without a message the error itself is the message.
func readRefusal(raw json.RawMessage) jsonrpc2.Error {
	var code struct{ Code int64 }
	var message struct{ Message string }
	_ = json.Unmarshal(raw, &code)
	_ = json.Unmarshal(raw, &message)
	if message.Message == "" {
		message.Message = string(clip(raw))
	}
	return jsonrpc2.Error{Code: code.Code, Message: message.Message}
}

// clip is the beginning of b.
func clip(b []byte) []byte {
	return bytes.ToValidUTF8(b[:min(len(b), maxQuoted)], []byte("\ufffd"))
}
