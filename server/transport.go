package server

import (
	"context"
	"io"
)

// Transport is a connection with its own framing, such as a WebSocket.
type Transport interface {
	// Next returns the next message or batch, valid until the next call. If a message cannot
	// be accepted, it returns a *protocol.Error, and the next call continues after that
	// message. Any other error is final. io.EOF means that the client has disconnected.
	Next() ([]byte, error)
	// Write writes messages that each end with LF. A long message comes in several calls, the last of
	// which ends with its LF. Write must not block forever on a client that does not read. It returns
	// io.EOF if the client has disconnected.
	io.Writer
}

// ServeTransport runs one connection until its input or output ends. Unlike Serve it does not
// close EOF, because other connections continue. The caller closes f, which also unblocks a
// write.
func (s *Server) ServeTransport(ctx context.Context, f Transport) error {
	c, err := s.connect(transportSource{f}, f, Link{})
	if err != nil {
		return err
	}
	defer s.disconnect(c)
	c.pending.shared = s.params
	c.onEOF = c.release
	return c.serve(ctx)
}

// transportSource adapts a Transport to a source.
type transportSource struct{ Transport }

func (r transportSource) next() ([]byte, error) { return r.Next() }

// Connected reports whether the connection has not ended.
func (s *Server) Connected(conn uint64) bool { return s.conn(conn) != nil }
