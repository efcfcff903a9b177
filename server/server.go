package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"appserver/protocol"
)

// limits bound what a client can make the server hold.
type limits struct {
	line            int // bytes of a line, without its end
	batch           int // messages in a batch
	pendingRequests int // requests without an answer, per connection
	backlog         int // bytes that the client has not read; above, requests are refused
	flood           int // bytes that the client has not read; above, nothing is read of it
	congestion      int // bytes that the client has not read; above, Congested says so
}

const (
	maxLine        = 64 << 20
	maxBatch       = 1 << 16
	maxPending     = 1024
	maxUrgentExtra = 64 // urgent requests above maxUnanswered
	maxBacklog     = 32 << 20
	maxFlood       = 64 << 20
	maxCongestion  = 8 << 20
)

var errShutDown = errors.New("server: shut down")

// Server is all connections. Its methods are safe for concurrent use.
type Server struct {
	log     *zap.Logger
	limits  limits
	methods map[string]protocol.Method
	handler protocol.Handler

	stopped atomic.Bool   // StopIntake was called
	eof     chan struct{} // closed at the first end of an input or output
	eofOnce sync.Once

	onDisconnect func(conn uint64) // set by OnLeave; nil where nobody wants to know

	mu      sync.RWMutex
	last    uint64
	conns   map[uint64]*conn
	drained bool // Drain was called
}

// New makes a server without connections.
func New(log *zap.Logger) *Server {
	return &Server{
		log:     log,
		limits:  limits{line: maxLine, batch: maxBatch, pendingRequests: maxPending, backlog: maxBacklog, flood: maxFlood, congestion: maxCongestion},
		methods: methodsByName(),
		eof:     make(chan struct{}),
		conns:   map[uint64]*conn{},
	}
}

// Handle sets what serves the methods, once, before Serve.
func (s *Server) Handle(h protocol.Handler) { s.handler = h }

// Serve runs one connection. It returns when Drain is done with the connection, or
// when ctx ends; not at the end of the input, of which EOF tells. The error is what
// broke the input or the output. in and out are not closed: where Serve returns
// before the end of the input, or while a write is stuck, a goroutine stays with
// in, or out, until its owner closes it.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	c, err := s.connect(&lineReader{in: in, max: s.limits.line}, out)
	if err != nil {
		return err
	}
	defer s.disconnect(c)
	return c.serve(ctx)
}

// Reply answers a request. result must not change any more. Only the first answer
// to a request counts.
func (s *Server) Reply(to protocol.Caller, result any) {
	if c := s.conn(to.Conn); c != nil {
		c.respond(to.Request, result, nil)
	}
}

// Refuse answers a request with an error, under the conditions of Reply.
func (s *Server) Refuse(to protocol.Caller, err *protocol.Error) {
	if c := s.conn(to.Conn); c != nil {
		c.respond(to.Request, nil, asProtocolError(err))
	}
}

// Notify tells a client something, unless the client opted out of it. n must not
// change any more.
func (s *Server) Notify(conn uint64, n protocol.Notification) {
	if c := s.conn(conn); c != nil {
		c.notify(n)
	}
}

// Ask sends a request to a client, with this id. answer is called at most once, in
// a goroutine of its own: with the result as the client wrote it, or with a
// *protocol.Error where the client refused. It is not called after a
// serverRequest/resolved with the id, nor when the connection ends. Asked again
// with the same id, only the later answer function is called.
func (s *Server) Ask(conn uint64, id uint64, method string, params any, answer func(result json.RawMessage, err error)) {
	if c := s.conn(conn); c != nil {
		c.sendServerRequest(id, method, params, answer)
	}
}

// Congested is nil while a client reads as fast as it is told things; else it is
// closed when there is room again, or the connection is gone.
func (s *Server) Congested(conn uint64) <-chan struct{} {
	c := s.conn(conn)
	if c == nil {
		return nil
	}
	return c.out.congestion()
}

// Behind tells whether a client leaves so much unread that its requests are refused.
func (s *Server) Behind(conn uint64) bool {
	c := s.conn(conn)
	return c != nil && c.hasBacklog()
}

// Initialized opens a connection for all methods. The handler of initialize calls
// it before it returns.
func (s *Server) Initialized(conn uint64, state ClientState) {
	if c := s.conn(conn); c != nil {
		c.client.Store(newClient(state))
	}
}

// Client is what a client said of itself; false before initialize.
func (s *Server) Client(conn uint64) (ClientState, bool) {
	c := s.conn(conn)
	if c == nil {
		return ClientState{}, false
	}
	if state := c.client.Load(); state != nil {
		return state.ClientState, true
	}
	return ClientState{}, false
}

// Clients are the connections that were opened by initialize, the oldest first.
func (s *Server) Clients() []uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var ids []uint64
	for id, c := range s.conns {
		if c.client.Load() != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (s *Server) conn(id uint64) *conn {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.conns[id]
}

func (s *Server) connect(in source, out io.Writer) (*conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drained {
		return nil, errShutDown
	}
	s.last++
	c := newConn(s, s.last, in, out)
	s.conns[c.id] = c
	return c, nil
}

func (s *Server) disconnect(c *conn) {
	s.mu.Lock()
	delete(s.conns, c.id)
	s.mu.Unlock()
	if s.onDisconnect != nil {
		s.onDisconnect(c.id)
	}
}
