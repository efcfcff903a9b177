package server

import (
	"errors"

	"go.uber.org/zap"

	"appserver/protocol"
)

// runWriter encodes and writes the output of the connection. No other goroutine sends through
// jsonrpc2. It ends when the outbox is drained or closed, or when a write fails.
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
		clear(chunk) // the array of the queue may still hold them
		if err := c.stream.flush(); err != nil {
			c.writeErr = err
			c.out.close()
			c.end(err)
			return
		}
		c.out.written(size)
	}
}

// send encodes a message through jsonrpc2. If encoding fails, the error is logged, and a
// response is replaced by an error response. That has the error itself if it is a *protocol.Error.
func (c *conn) send(m message) {
	c.stream.outgoing = m
	err := m.transmit(c.rpc)
	if unread := c.stream.encoder.unread; unread != nil {
		c.stream.encoder.unread = nil
		c.log.Error("response sent without some items", zap.Error(unread))
	}
	if err == nil || isClosedRPC(err) || c.stream.encoder.writeErr != nil {
		return
	}
	c.log.Error("message not sent", zap.Error(err))
	if r, ok := m.(*response); ok && r.err == nil {
		if !errors.As(err, &r.err) {
			r.err = protocol.Internal(protocol.KindInternal, "The response cannot be encoded: %v", err)
		}
		c.send(r)
	}
}
