package server

import (
	"context"
	"io"
)

// Frames is a connection whose transport keeps messages apart, as WebSockets do.
type Transport interface {
	// Next is the next message, or batch, valid until the next call. A *protocol.Error
	// tells what is wrong with one that cannot be read; the call after that goes on
	// behind it. Every other error is final, io.EOF where the client has left.
	Next() ([]byte, error)
	// Write takes messages, each ended by LF. A client that takes nothing must not hold
	// it up for ever. Its error is io.EOF where the client has left.
	io.Writer
}

// ServeFrames runs one connection, as Serve does, but to the end of its input: a client
// that has left does not come back to read, and there may be others. f is its owner's to
// close, which also ends a write that is stuck.
func (s *Server) ServeTransport(ctx context.Context, f Transport) error {
	c, err := s.connect(transportSource{f}, f)
	if err != nil {
		return err
	}
	defer s.disconnect(c)
	c.onEOF = c.release
	return c.serve(ctx)
}

// frameReader is a source.
type transportSource struct{ Transport }

func (r transportSource) next() ([]byte, error) { return r.Next() }

// OnLeave sets what is told of each connection that has ended, once, before Serve.
// Nothing reaches the connection by then.
func (s *Server) OnDisconnect(left func(conn uint64)) { s.onDisconnect = left }

// Connected tells whether a connection has not ended.
func (s *Server) Connected(conn uint64) bool { return s.conn(conn) != nil }
