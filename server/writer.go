package server

import (
	"errors"

	"github.com/sourcegraph/jsonrpc2"
	"go.uber.org/zap"

	"appserver/protocol"
)

// write is the writer: the only goroutine that sends through jsonrpc2 and writes to
// the output. It ends when the outbox is drained or closed, or a write fails.
func (c *conn) runWriter() {
	defer close(c.out.drained)
	for {
		chunk, size := c.out.nextChunk()
		if len(chunk) == 0 {
			return
		}
		for _, m := range chunk {
			c.send(m)
		}
		clear(chunk) // the queue behind it may keep its memory
		if err := c.stream.flush(); err != nil {
			c.writeErr = err
			c.out.close()
			c.end(err)
			return
		}
		c.out.written(size)
	}
}

// send encodes a message through jsonrpc2. What cannot be encoded is logged, and an
// answer becomes an error.
func (c *conn) send(m message) {
	c.stream.outgoing = m
	err := m.transmit(c)
	if err == nil || errors.Is(err, jsonrpc2.ErrClosed) {
		return
	}
	c.log.Error("message not sent", zap.Error(err))
	if r, ok := m.(*response); ok && r.err == nil {
		r.err = protocol.Internal(protocol.KindInternal, "The answer could not be encoded: %v", err)
		c.send(r)
	}
}
