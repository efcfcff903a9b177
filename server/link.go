package server

import (
	"context"
	"encoding/json"

	"github.com/sourcegraph/jsonrpc2"
)

// Link is the part that another node of a fleet has on a connection.
type Link int

// The links. A node forwards the messages of one of its clients, or it receives the notifications about
// all threads for its clients.
const (
	NoLink Link = iota
	ClientLink
	AudienceLink
)

// ServeLink is ServeTransport for a connection of another node. The connection is initialized with the
// state of the node's client.
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

// Audience returns the connections that get notifications about all threads, oldest first: the clients,
// and the other nodes, which have clients as well.
func (s *Server) Audience() []uint64 {
	return s.initialized(func(c *conn) bool { return c.link != ClientLink })
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

func (r *relayed) transmit(rpc *jsonrpc2.Conn) error {
	return rpc.Notify(context.Background(), r.method, nil)
}

func (r *relayed) encode(e *encoder) error {
	e.buf = append(append(e.buf, r.message...), '\n')
	return nil
}
