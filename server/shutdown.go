package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"appserver/protocol"
)

// EOF returns a channel that is closed at the end of a connection's input, or after a failed
// write. All earlier input has been dispatched by then.
func (s *Server) EOF() <-chan struct{} { return s.eof }

func (s *Server) signalEOF() { s.eofOnce.Do(func() { close(s.eof) }) }

// StopIntake rejects all later requests with kind shuttingDown.
func (s *Server) StopIntake() { s.stopped.Store(true) }

// Quiesce waits until every accepted request has a response, or until ctx ends. Call
// StopIntake first.
func (s *Server) Quiesce(ctx context.Context) error {
	for _, c := range s.allConns() {
		select {
		case <-c.pending.empty():
		case <-ctx.Done():
			return fmt.Errorf("server: client %d has pending requests: %w", c.id, ctx.Err())
		}
	}
	return nil
}

// Drain ends all connections. It rejects pending requests, waits until the clients have read
// all output or ctx ends, and makes Serve return. Later output is dropped. The error describes
// output that was not written.
func (s *Server) Drain(ctx context.Context) error {
	s.StopIntake()
	s.mu.Lock()
	s.drained = true
	s.mu.Unlock()
	conns := s.allConns()
	for _, c := range conns {
		c.rejectPending()
		c.out.finish()
	}
	var errs []error
	for _, c := range conns {
		errs = append(errs, c.drain(ctx))
	}
	return errors.Join(errs...)
}

func (s *Server) allConns() []*conn {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Values(s.conns))
}

func (c *conn) rejectPending() {
	for _, number := range c.pending.numbers() {
		c.respond(
			number,
			nil,
			protocol.Refuse(protocol.KindShuttingDown, "Server shut down before the request was finished"),
		)
	}
}

// drain waits for the writer, or until ctx ends, and releases the connection.
func (c *conn) drain(ctx context.Context) error {
	defer c.release()
	select {
	case <-c.out.drained:
		return c.writeErr
	case <-ctx.Done():
		return fmt.Errorf(
			"server: client %d does not read; %d bytes of output are discarded: %w",
			c.id,
			c.out.backlog(),
			ctx.Err(),
		)
	}
}
