package host

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"appserver/core"
	"appserver/core/effects/find"
	"appserver/core/effects/tool"
	"appserver/protocol"
)

// Outbox sends messages to clients.
type Outbox interface {
	Reply(to protocol.Caller, result any)
	Refuse(to protocol.Caller, err *protocol.Error)
	Notify(conn uint64, n protocol.Notification)
	// Congested returns nil while a client reads, else a channel that is closed when the client has
	// caught up.
	Congested(conn uint64) <-chan struct{}
	// Connected returns false for a connection that has ended. Gone is called for it.
	Connected(conn uint64) bool
}

// Runner runs commands.
type Runner interface {
	Exec(ctx context.Context, e tool.Exec, started func(*tool.Input)) tool.Exit
}

// Options are the parts and settings of a host.
type Options struct {
	Outbox Outbox
	// Runner runs commands, or is nil.
	Runner Runner
	// Finder finds files. If it is nil, New creates one.
	Finder *find.Finder
	// Cwd is the base of relative paths of commands and searches.
	Cwd string
	// Policy and Environment apply to commands that name no others. Profile returns the policy of a permission
	// profile in a directory.
	Policy      func() protocol.SandboxPolicy
	Profile     func(id, cwd string) (protocol.SandboxPolicy, error)
	Environment func() core.EnvironmentPolicy
	// Confined reports whether the kernel confines commands.
	Confined func() bool
	// CheckCwd returns an error if commands do not run in a directory. It may be nil.
	CheckCwd func(dir string) error
	// Permits returns an error if the administrator does not permit a policy. It may be nil.
	Permits func(protocol.SandboxPolicy) error
}

// Host serves the methods. It is safe for concurrent use.
type Host struct {
	Options
	watch watcher
	work  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	// connections has the open operations of each connection.
	connections map[uint64]*connection
}

// New returns a host. It must be called before any search of another finder runs.
func New(o Options) *Host {
	if o.Finder == nil {
		o.Finder = find.New()
	}
	h := &Host{Options: o, connections: map[uint64]*connection{}}
	h.watch.host = h
	return h
}

// connection has the open operations of one connection.
type connection struct {
	host *Host
	conn uint64
	// ctx ends with the connection.
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	pending []func()
	working bool
	// waiting is the number of bytes that those commands have yet to receive.
	waiting int
	// searches have a cancellation token, sessions have a name.
	searches map[string]*search
	sessions map[string]*session
	commands map[string]*command
	// searching holds a token for each search that walks, but for sessions.
	searching chan struct{}
}

// connection returns the state of a connection, and creates it if necessary.
func (h *Host) connection(conn uint64) (*connection, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.connections[conn]
	if h.closed || d == nil && !h.Outbox.Connected(conn) {
		return nil, protocol.Refuse(protocol.KindShuttingDown, "the server is shutting down, or the connection has ended")
	}
	if d == nil {
		d = &connection{
			host: h, conn: conn, searches: map[string]*search{}, sessions: map[string]*session{},
			commands:  map[string]*command{},
			searching: make(chan struct{}, maxSearching),
		}
		d.ctx, d.cancel = context.WithCancel(context.Background())
		h.connections[conn] = d
	}
	return d, nil
}

// Gone ends the operations of a connection. It does not wait.
func (h *Host) Gone(conn uint64) {
	h.mu.Lock()
	d := h.connections[conn]
	delete(h.connections, conn)
	h.mu.Unlock()
	if d != nil {
		d.cancel()
		h.watch.drop(conn)
	}
}

// Stop ends all operations and rejects new ones. It does not wait.
func (h *Host) Stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, d := range h.connections {
		d.cancel()
	}
}

// Close stops the host, and waits for the end of all operations, at most until ctx ends.
func (h *Host) Close(ctx context.Context) error {
	h.Stop()
	h.watch.close()
	done := make(chan struct{})
	go func() {
		h.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("host: files, searches or commands did not end in time: %w", ctx.Err())
	}
}

// run starts an operation in its own goroutine.
func (h *Host) run(do func()) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return protocol.Refuse(protocol.KindShuttingDown, "the server is shutting down")
	}
	h.work.Add(1)
	go func() {
		defer h.work.Done()
		do()
	}()
	return nil
}

// inOrder runs a file operation after the earlier ones of its connection.
func (h *Host) inOrder(to protocol.Caller, do func(d *connection) (any, error)) error {
	d, err := h.connection(to.Conn)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending = append(d.pending, func() {
		d.awaitRoom()
		answer, err := do(d)
		h.answer(to, answer, err)
	})
	if d.working {
		return nil
	}
	d.working = true
	return h.run(d.catchUp)
}

// catchUp runs the pending operations.
func (d *connection) catchUp() {
	for {
		d.mu.Lock()
		if len(d.pending) == 0 {
			d.working = false
			d.mu.Unlock()
			return
		}
		do := d.pending[0]
		d.pending[0] = nil // it may hold a file
		d.pending = d.pending[1:]
		d.mu.Unlock()
		do()
	}
}

// awaitRoom waits until the client has read enough of its messages.
func (d *connection) awaitRoom() {
	for {
		room := d.host.Outbox.Congested(d.conn)
		if room == nil {
			return
		}
		select {
		case <-room:
		case <-d.ctx.Done():
			return
		}
	}
}

func (h *Host) answer(to protocol.Caller, answer any, err error) {
	if err == nil {
		h.Outbox.Reply(to, answer)
		return
	}
	h.Outbox.Refuse(to, coded(err))
}

// coded returns a refusal unchanged, and any other error as a fault of the machine.
func coded(err error) *protocol.Error {
	var e *protocol.Error
	if errors.As(err, &e) {
		return e
	}
	return protocol.Internal(protocol.KindInternal, "%v", err)
}

// overloaded returns the error for a request that can be served later.
func overloaded(format string, args ...any) *protocol.Error {
	return &protocol.Error{Code: protocol.CodeOverloaded, Message: fmt.Sprintf(format, args...),
		Data: &protocol.ErrorData{Kind: protocol.KindOverloaded}}
}
