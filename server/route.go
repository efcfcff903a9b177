package server

import (
	"encoding/json"
	"math"

	"appserver/protocol"
)

// Router can serve requests of clients elsewhere.
type Router interface {
	// Route returns true if it takes a request. It then sends the response later. It is called on the
	// reader goroutine of the connection, so it must not block. The params are valid during the call only.
	Route(to protocol.Caller, method protocol.Method, params json.RawMessage) bool
	// Disconnect runs after a connection has been removed.
	Disconnect(conn uint64)
}

// route passes a request of a client to the router. Requests of another node are served here.
func (c *conn) route(to protocol.Caller, method protocol.Method, params json.RawMessage) bool {
	r := c.server.service.Router
	return r != nil && c.link.Kind == NoLink && r.Route(to, method, params)
}

// Call serves a request of this program in the name of a client, without the router. It calls answered
// with the response, unless the connection ends before.
func (s *Server) Call(
	conn uint64,
	method string,
	params json.RawMessage,
	answered func(result any, err *protocol.Error),
) {
	c := s.conn(conn)
	if c == nil {
		return
	}
	r := &request{answered: answered}
	c.pending.add(r, math.MaxInt)
	to := protocol.Caller{Conn: conn, Request: r.number}
	m, err := c.lookUp(method)
	if err == nil {
		err = c.call(m, to, params)
	}
	if err != nil {
		c.respond(to.Request, nil, asProtocolError(err))
	}
}
