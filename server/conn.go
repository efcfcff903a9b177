package server

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"go.uber.org/zap"

	"appserver/protocol"
)

// conn is one client's connection.
type conn struct {
	id     uint64
	server *Server
	log    *zap.Logger

	stream   *stream
	rpc      *jsonrpc2.Conn // set by serve before the writer starts, who is its user
	pending  pendingRequests
	out      *outbox
	writeErr error                  // of the write that failed; to be read once out is drained
	client   atomic.Pointer[client] // nil before initialize

	// ended is told that input or output is at its end.
	onEOF       func()
	released    chan struct{} // closed when the connection is to end for good
	releaseOnce sync.Once

	mu             sync.Mutex
	err            error                     // what ended input or output, if not its plain end
	serverRequests map[uint64]*serverRequest // asked, and neither answered nor resolved
	nextRequestID  uint64                    // no question has had this id, or a higher one
}

func newConn(s *Server, id uint64, in source, out io.Writer) *conn {
	c := &conn{
		id: id, server: s, log: s.log.With(zap.Uint64("conn", id)),
		out:            newOutbox(s.limits.congestion),
		released:       make(chan struct{}),
		serverRequests: map[uint64]*serverRequest{},
	}
	c.onEOF = s.signalEOF
	c.stream = &stream{conn: c, out: out, encoder: newEncoder(), source: in}
	return c
}

// serve runs the connection until it is released or ctx ends.
func (c *conn) serve(ctx context.Context) error {
	c.rpc = jsonrpc2.NewConn(ctx, c.stream, c, jsonrpc2.OnRecv(c.stream.restore), jsonrpc2.SetLogger(rpcLog{c.log}))
	go c.runWriter()
	<-c.released // by drain, or by jsonrpc2 when ctx ends
	if err := ctx.Err(); err != nil {
		c.end(err)
	}
	c.rpc.Close() // the only error is that ctx closed it before
	c.out.close()
	return c.failure()
}

// end notes that input or output has ended, with io.EOF where that is no fault.
func (c *conn) end(err error) {
	c.mu.Lock()
	if c.err == nil && !errors.Is(err, io.EOF) {
		c.err = err
		c.log.Warn("connection broken", zap.Error(err))
	}
	c.mu.Unlock()
	c.onEOF()
}

func (c *conn) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *conn) release() { c.releaseOnce.Do(func() { close(c.released) }) }

func (c *conn) isReleased() bool {
	select {
	case <-c.released:
		return true
	default:
		return false
	}
}

// admit gives the stub of a message that jsonrpc2 is to see, nil for one that was
// dealt with.
func (c *conn) admit(m *incoming) []byte {
	switch m.kind {
	case kindRequest:
		return c.admitRequest(*m)
	case kindNotification:
		return notificationStub(m.method)
	case kindResponse:
		return c.admitResponse(m)
	}
	c.rejectMessage(*m)
	if m.object && (m.method == nil || isSet(m.result) || isSet(m.errorMember)) {
		return c.admitResponse(m) // it may be meant as one
	}
	return nil
}

func (c *conn) admitRequest(m incoming) []byte {
	limits := c.server.limits
	request := &request{id: m.responseID(), batch: m.batch}
	accepted := !c.hasBacklog() && c.pending.add(request, limits.pendingRequests)
	if !accepted && !(c.isUrgent(m) && c.pending.add(request, limits.pendingRequests+maxUrgentExtra)) {
		m.err = &protocol.Error{
			Code: protocol.CodeOverloaded, Message: "Server overloaded; retry later.",
			Data: &protocol.ErrorData{Kind: protocol.KindOverloaded},
		}
		c.rejectMessage(m)
		return nil
	}
	return requestStub(m.method, request.number)
}

func (c *conn) hasBacklog() bool { return c.out.backlog() > c.server.limits.backlog }

func (c *conn) isUrgent(m incoming) bool {
	var method string
	return protocol.Unmarshal(m.method, &method) == nil && c.server.methods[method].Urgent
}

// awaitRoom waits while a client sends on without reading what it is told: refusals
// take room, too. Meanwhile the end of its input is not seen; that of its output is.
func (c *conn) waitWhileFlooded() {
	if c.out.backlog() <= c.server.limits.flood {
		return
	}
	if room := c.out.congestion(); room != nil {
		select {
		case <-room:
		case <-c.released:
		}
	}
}

// refuse answers a message that did not become a request.
func (c *conn) rejectMessage(m incoming) {
	c.queueResponse(&request{id: m.responseID(), batch: m.batch}, nil, m.err)
}

// settle answers a request. A second answer is dropped.
func (c *conn) respond(number uint64, result any, err *protocol.Error) {
	request := c.pending.remove(number)
	if request == nil {
		c.log.Warn("answer to a request that has one", zap.Uint64("request", number))
		return
	}
	c.queueResponse(request, result, err)
	c.pending.responded()
}

func (c *conn) queueResponse(request *request, result any, err *protocol.Error) {
	size := entryOverhead + len(request.id)
	if err != nil {
		size += len(err.Message)
	} else {
		size += estimate(result, c.server.limits.congestion)
	}
	c.out.add(&response{request: request, result: result, err: err, bytes: size})
}

func (c *conn) notify(n protocol.Notification) {
	c.resolve(n)
	if c.client.Load().optedOut(n.NotificationMethod()) {
		return
	}
	if d, ok := n.(protocol.Delta); ok {
		c.out.addDelta(d)
		return
	}
	c.out.add(&queuedNotification{n, entryOverhead + estimate(n, c.server.limits.congestion), time.Now()})
}

// rpcLog takes what jsonrpc2 has to say: answers that nobody waits for.
type rpcLog struct{ log *zap.Logger }

// Printf logs a line.
func (l rpcLog) Printf(format string, v ...any) { l.log.Sugar().Warnf(format, v...) }
