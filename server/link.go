package server

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"appserver/protocol"
)

// Link is the part that another node of a fleet has on a connection, or the zero value for a client.
type Link struct {
	Kind LinkKind
	// Node is the id of the other node. Client is the connection of its client there, for a ClientLink.
	Node   string
	Client uint64
}

// LinkKind is the kind of a link.
type LinkKind int

// The links. A node forwards the messages of one of its clients, or it receives the notifications about
// all threads for its clients.
const (
	NoLink LinkKind = iota
	ClientLink
	AudienceLink
)

// ServeLink does the same as ServeTransport, for a connection of another node. The connection is
// initialized with the state of the node's client.
func (s *Server) ServeLink(ctx context.Context, f Transport, link Link, state ClientState) error {
	c, err := s.connect(transportSource{f}, f, link)
	if err != nil {
		return err
	}
	defer s.disconnect(c)
	c.client.Store(newClient(state))
	c.onEOF = c.release
	return c.serve(ctx)
}

// NotifyOthers sends a notification about all threads to the clients without one of the connections in sent, which
// have it already. Another node gets it for its clients, with those that have it.
func (s *Server) NotifyOthers(sent []uint64, n protocol.Notification) {
	for _, c := range s.initialized(func(c *conn) bool { return c.link.Kind != ClientLink }) {
		switch {
		case c.link.Kind == AudienceLink:
			c.out.add(&relayedNotification{queued(c, n), s.clientsOf(c.link.Node, sent)})
		case !slices.Contains(sent, c.id):
			c.notify(n)
		}
	}
}

// clientsOf returns the connections on another node whose links are in conns.
func (s *Server) clientsOf(node string, conns []uint64) (clients []uint64) {
	for _, id := range conns {
		if c := s.conn(id); c != nil && c.link.Kind == ClientLink && c.link.Node == node {
			clients = append(clients, c.link.Client)
		}
	}
	return clients
}

// relayedNotification is a notification for the clients of another node, except those in sent, which it has as well. So
// it overrides encode.
type relayedNotification struct {
	*queuedNotification
	sent []uint64
}

func (n *relayedNotification) encode(e *encoder) error {
	e.method(n.notification.NotificationMethod())
	err := e.value(n.notification)
	if len(n.sent) > 0 {
		e.text(`,"sent":[`)
		for i, id := range n.sent {
			if i > 0 {
				e.text(",")
			}
			e.buf = strconv.AppendUint(e.buf, id, 10)
		}
		e.text("]")
	}
	e.emitted(n.emittedAt)
	return err
}

// Encoded is a result in the form of protocol.Marshal.
type Encoded json.RawMessage

// AppendJSON appends the result.
func (e Encoded) AppendJSON(b []byte) ([]byte, error) { return append(b, e...), nil }

// MarshalJSON returns the result.
func (e Encoded) MarshalJSON() ([]byte, error) { return e, nil }

// JSONSize returns the length in bytes.
func (e Encoded) JSONSize() int { return len(e) }

// Relay sends a notification of another server, a whole message in the form of protocol.Marshal, unless
// the client opted out of its method. The message must not change any more.
func (s *Server) Relay(conn uint64, method string, message []byte) {
	c := s.conn(conn)
	if c == nil || c.client.Load().optedOut(method) {
		return
	}
	c.out.add(&relayed{method, message})
}

// relayed is a notification of another server.
type relayed struct {
	method  string
	message []byte
}

func (r *relayed) size() int { return entryOverhead + len(r.message) }

func (r *relayed) transmit(to *rpc) error {
	return to.notify(r.method)
}

func (r *relayed) encode(e *encoder) error {
	e.buf = append(append(e.buf, r.message...), '\n')
	return nil
}
