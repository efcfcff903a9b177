package server

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"appserver/protocol"
)

// conn is the connection of one client.
type conn struct {
	id     uint64
	server *Server
	link   Link
	log    *zap.Logger

	stream   *stream
	rpc      *rpc // set by serve before the writer starts; only the writer uses it
	pending  pendingRequests
	out      *outbox
	writeErr error                  // error of the failed write; read it after out.drained is closed
	client   atomic.Pointer[client] // nil before initialize

	// onEOF is called when the input or the output has ended.
	onEOF       func()
	released    chan struct{} // closed when serve must return
	releaseOnce sync.Once

	mu             sync.Mutex
	err            error                     // first error of input or output; nil after a plain EOF
	serverRequests map[uint64]*serverRequest // sent, and neither answered nor resolved
	nextRequestID  uint64                    // above every id that was used for a server request
}

func newConn(s *Server, id uint64, in source, out io.Writer) *conn {
	c := &conn{
		id: id, server: s, log: s.log.With(zap.Uint64("conn", id)),
		out:            newOutbox(s.limits.congestion),
		released:       make(chan struct{}),
		serverRequests: map[uint64]*serverRequest{},
	}
	c.onEOF = s.signalEOF
	c.stream = &stream{conn: c, out: out, encoder: newEncoder(out), source: in}
	return c
}

// serve runs the connection until it is released or ctx ends.
func (c *conn) serve(ctx context.Context) error {
	c.rpc = startRPC(ctx, c)
	go c.runWriter()
	<-c.released // closed by drain, or by jsonrpc2 when ctx ends
	if err := ctx.Err(); err != nil {
		c.end(err)
	}
	c.rpc.close()
	c.out.close()
	return c.failure()
}

// end records the end of the input or the output. io.EOF is not an error here.
func (c *conn) end(err error) {
	c.mu.Lock()
	if c.err == nil && !errors.Is(err, io.EOF) {
		c.err = err
		c.log.Warn("connection failed", zap.Error(err))
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

// admit returns the stub of a message for jsonrpc2. It returns nil if the message is rejected
// or dropped.
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
		return c.admitResponse(m) // the client may have meant a response
	}
	return nil
}

func (c *conn) admitRequest(m incoming) []byte {
	limits := c.server.limits
	request := &request{id: m.responseID(), batch: m.batch, bytes: len(m.params)}
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

// waitWhileFlooded stops reading from a client that has too much unread output. Rejecting its
// requests is not enough, because rejections are output as well. While it waits, the end of
// the input is not noticed, but a failed write is.
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

// rejectMessage queues the error response of a message that did not become a request.
func (c *conn) rejectMessage(m incoming) {
	c.queueResponse(&request{id: m.responseID(), batch: m.batch}, nil, m.err)
}

// respond answers a request. If the request has a response already, the new one is dropped and
// logged.
func (c *conn) respond(number uint64, result any, err *protocol.Error) {
	request := c.pending.remove(number)
	if request == nil {
		c.log.Warn("second response to a request dropped", zap.Uint64("request", number))
		return
	}
	if request.answered != nil {
		request.answered(result, err)
	} else {
		c.queueResponse(request, result, err)
	}
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
	c.out.add(queued(c, n))
}

func queued(c *conn, n protocol.Notification) *queuedNotification {
	return &queuedNotification{n, entryOverhead + estimate(n, c.server.limits.congestion), time.Now()}
}
