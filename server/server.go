package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"appserver/protocol"
)

// limits bounds the memory that one client can make the server hold.
type limits struct {
	line            int // bytes of a line, without its end
	batch           int // messages in a batch
	pendingRequests int // pending requests per connection
	backlog         int // unread bytes above which requests are rejected
	flood           int // unread bytes above which reading stops
	congestion      int // unread bytes above which Congested returns a channel
}

const (
	maxLine        = 64 << 20
	maxBatch       = 1 << 16
	maxPending     = 1024
	maxParams      = 256 << 20
	maxUrgentExtra = 64 // additional pending requests for urgent methods
	maxBacklog     = 32 << 20
	maxFlood       = 64 << 20
	maxCongestion  = 8 << 20
)

var errShutDown = errors.New("server: shut down")

// Server holds all connections. Its methods are safe for concurrent use.
type Server struct {
	log     *zap.Logger
	limits  limits
	methods map[string]protocol.Method
	service Service

	stopped atomic.Bool   // StopIntake was called
	eof     chan struct{} // closed when the first input or output ends
	eofOnce sync.Once

	params *paramBytes // of the pending requests of clients on sockets

	memory *time.Timer // returns unused memory to the system when it fires

	mu      sync.RWMutex
	last    uint64
	conns   map[uint64]*conn
	drained bool // Drain was called
}

// New returns a server without connections.
func New(log *zap.Logger) *Server {
	return &Server{
		log: log,
		limits: limits{
			line:            maxLine,
			batch:           maxBatch,
			pendingRequests: maxPending,
			backlog:         maxBacklog,
			flood:           maxFlood,
			congestion:      maxCongestion,
		},
		methods: methodsByName(),
		eof:     make(chan struct{}),
		conns:   map[uint64]*conn{},
		params:  &paramBytes{limit: maxParams},
		memory:  newMemoryTimer(),
	}
}

// Service serves the requests of all connections.
type Service struct {
	// Handler serves the methods.
	Handler protocol.Handler
	// Router can serve requests of clients elsewhere. Nil means that all are served here.
	Router Router
	// Left is called after a connection has been removed. It may be nil. Nothing is sent to that connection any more.
	Left func(conn uint64)
}

// Handle sets the service. Call it once, before Serve. The service is not a part of New, because it sends its messages
// through the server.
func (s *Server) Handle(by Service) { s.service = by }

// Serve runs one connection on line-delimited JSON. It returns when Drain has finished the
// connection, or when ctx ends. It does not return at the end of the input; EOF reports that.
// The error is the first error of in or out, or nil after EOF.
//
// Serve closes neither in nor out. A goroutine may stay blocked on them until the caller
// closes them.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	c, err := s.connect(&lineReader{in: in, max: s.limits.line}, out, Link{})
	if err != nil {
		return err
	}
	defer s.disconnect(c)
	return c.serve(ctx)
}

// Reply answers a request with a result, which must not change any more. Only the first
// response to a request is sent.
func (s *Server) Reply(to protocol.Caller, result any) {
	if c := s.conn(to.Conn); c != nil {
		c.respond(to.Request, result, nil)
	}
}

// Refuse answers a request with an error. Only the first response to a request is sent.
func (s *Server) Refuse(to protocol.Caller, err *protocol.Error) {
	if c := s.conn(to.Conn); c != nil {
		c.respond(to.Request, nil, asProtocolError(err))
	}
}

// Notify sends a notification, unless the client opted out of its method. n must not change
// any more.
func (s *Server) Notify(conn uint64, n protocol.Notification) {
	if c := s.conn(conn); c != nil {
		c.notify(n)
	}
}

// Ask sends a request with this id to a client. It calls answer at most once, in a goroutine
// of its own: with the raw result, or with a *protocol.Error if the client replied with an
// error. It does not call answer after a serverRequest/resolved notification with the id, or
// after the connection has ended. If the same id is used again, only the later answer function
// is called.
func (s *Server) Ask(
	conn uint64,
	id uint64,
	method string,
	params any,
	answer func(result json.RawMessage, err error),
) {
	if c := s.conn(conn); c != nil {
		c.sendServerRequest(id, method, params, answer)
	}
}

// Withdraw forgets a request to a client, whose response is not awaited any more.
func (s *Server) Withdraw(conn, id uint64) {
	if c := s.conn(conn); c != nil {
		c.withdraw(id)
	}
}

// Congested returns nil if the client keeps up with its output. Otherwise it returns a channel
// that is closed when congestion or the connection ends.
func (s *Server) Congested(conn uint64) <-chan struct{} {
	c := s.conn(conn)
	if c == nil {
		return nil
	}
	return c.out.congestion()
}

// Behind reports whether the client has so much unread output that its requests are rejected.
func (s *Server) Behind(conn uint64) bool {
	c := s.conn(conn)
	return c != nil && c.hasBacklog()
}

// Initialized allows all methods on a connection. The handler of initialize calls it before it
// returns.
func (s *Server) Initialized(conn uint64, state ClientState) {
	if c := s.conn(conn); c != nil {
		c.client.Store(newClient(state))
	}
}

// Client returns the state of an initialized client. It returns false before initialize.
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

// Clients returns the initialized connections of clients, oldest first. Those of other nodes are missing.
func (s *Server) Clients() []uint64 {
	var ids []uint64
	for _, c := range s.initialized(func(c *conn) bool { return c.link.Kind == NoLink }) {
		ids = append(ids, c.id)
	}
	return ids
}

// initialized returns the initialized connections that are selected, oldest first.
func (s *Server) initialized(selects func(*conn) bool) []*conn {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var selected []*conn
	for _, c := range s.conns {
		if c.client.Load() != nil && selects(c) {
			selected = append(selected, c)
		}
	}
	slices.SortFunc(selected, func(a, b *conn) int { return cmp.Compare(a.id, b.id) })
	return selected
}

func (s *Server) conn(id uint64) *conn {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.conns[id]
}

func (s *Server) connect(in source, out io.Writer, link Link) (*conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drained {
		return nil, errShutDown
	}
	s.last++
	c := newConn(s, s.last, in, out)
	c.link = link
	s.conns[c.id] = c
	return c, nil
}

func (s *Server) disconnect(c *conn) {
	s.mu.Lock()
	delete(s.conns, c.id)
	s.mu.Unlock()
	c.pending.abandon()
	if s.service.Left != nil {
		s.service.Left(c.id)
	}
	if s.service.Router != nil {
		s.service.Router.Disconnect(c.id)
	}
}
