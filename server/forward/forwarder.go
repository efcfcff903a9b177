package forward

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"appserver/protocol"
	"appserver/server"
)

// Node is another node of the fleet. A node without an address cannot be reached.
type Node struct{ ID, Address string }

// Place is where a thread is written.
type Place struct {
	// Owner is the other node that writes the thread, or the zero value.
	Owner Node
	// Cwd is the working directory of the thread, or "".
	Cwd string
}

// Transport is a link to another node.
type Transport interface {
	server.Transport
	Close()
}

// Options are the parts of a Forwarder.
type Options struct {
	Server *server.Server
	// Node is the id of this node.
	Node string
	// IsLoaded reports whether this node has loaded a thread.
	IsLoaded func(thread string) bool
	// Find returns the place of a thread.
	Find func(ctx context.Context, thread string) (Place, error)
	// Workspaces are the directories in which this node runs turns. No workspaces are all directories.
	Workspaces []string
	// Nodes returns the nodes of the fleet.
	Nodes func(ctx context.Context) ([]Node, error)
	Dial  func(ctx context.Context, address string) (Transport, error)
	// DialTimeout limits the time to connect to a node.
	DialTimeout time.Duration
	// NextRequest returns a new id for a request to a client.
	NextRequest func() uint64
	// Patience is the time for which an owner is looked for. It must exceed the time to live of a lease.
	Patience time.Duration
	// Poll is the time between two reads of the list of nodes.
	Poll time.Duration
	// Report gets errors that fail no request.
	Report func(error)
}

// Stats counts what a node has forwarded to other nodes, and received from them.
type Stats struct{ Requests, Notifications int64 }

// Forwarder forwards requests of clients to the nodes that own their threads. It implements
// server.Router.
type Forwarder struct {
	Options
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	requests, notifications atomic.Int64

	// kinds are the rows of the notifications, by method.
	kinds map[string]protocol.NotificationRow

	mu       sync.Mutex
	sessions map[uint64]*session
	audience map[string]*listened // the nodes to which a link for notifications exists, by address
	silent   map[string]time.Time // the times at which nodes did not answer, by address
}

// New returns a forwarder.
func New(o Options) *Forwarder {
	f := &Forwarder{Options: o, sessions: map[uint64]*session{}, audience: map[string]*listened{},
		silent: map[string]time.Time{}, kinds: map[string]protocol.NotificationRow{}}
	for _, n := range protocol.Notifications() {
		f.kinds[n.Method] = n
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.work.Go(f.keepAudience)
	return f
}

// Close closes all links.
func (f *Forwarder) Close() {
	f.cancel()
	f.mu.Lock()
	for _, s := range f.sessions {
		s.close()
	}
	f.mu.Unlock()
	f.work.Wait()
}

// Stats returns the numbers of requests and notifications until now.
func (f *Forwarder) Stats() Stats { return Stats{f.requests.Load(), f.notifications.Load()} }

// Disconnect closes the links of a client.
func (f *Forwarder) Disconnect(conn uint64) {
	f.mu.Lock()
	s := f.sessions[conn]
	delete(f.sessions, conn)
	f.mu.Unlock()
	if s != nil {
		s.close()
	}
}

// Route takes a request for a thread that is not loaded here, or for a new thread of another node.
func (f *Forwarder) Route(to protocol.Caller, method protocol.Method, params json.RawMessage) bool {
	if method.NewThread {
		return f.routeStart(to, method, params)
	}
	thread := threadOf(params)
	if thread == "" && method.ByTurn {
		thread = f.threadOfInterrupt(to.Conn, params)
	}
	if thread == "" {
		return false
	}
	s := f.session(to.Conn)
	if !s.isBusy(thread) && f.IsLoaded(thread) {
		return false
	}
	s.submit(s.requestOf(to, thread, method, params))
	return true
}

// session returns the links of a client. It exists until Disconnect.
func (f *Forwarder) session(conn uint64) *session {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[conn]
	if s == nil {
		s = newSession(f, conn)
		f.sessions[conn] = s
	}
	return s
}
