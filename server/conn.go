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

	stream *stream
	rpc    *jsonrpc2.Conn // set by serve before the writer starts, who is its user
	ledger ledger
	out    *outbox
	lost   error                  // of the write that failed; to be read once out is drained
	client atomic.Pointer[client] // nil before initialize

	// ended is told that input or output is at its end.
	ended       func()
	released    chan struct{} // closed when the connection is to end for good
	releaseOnce sync.Once

	mu        sync.Mutex
	err       error                // what ended input or output, if not its plain end
	questions map[uint64]*question // asked, and neither answered nor resolved
	unasked   uint64               // no question has had this id, or a higher one
}

func newConn(s *Server, id uint64, in source, out io.Writer) *conn {
	c := &conn{
		id: id, server: s, log: s.log.With(zap.Uint64("conn", id)),
		out:       newOutbox(s.limits.congestion),
		released:  make(chan struct{}),
		questions: map[uint64]*question{},
	}
	c.ended = s.ended
	c.stream = &stream{conn: c, out: out, encoder: newEncoder(), source: in}
	return c
}

// serve runs the connection until it is released or ctx ends.
func (c *conn) serve(ctx context.Context) error {
	c.rpc = jsonrpc2.NewConn(ctx, c.stream, c, jsonrpc2.OnRecv(c.stream.restore), jsonrpc2.SetLogger(rpcLog{c.log}))
	go c.write()
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
	c.ended()
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
	case kindAnswer:
		return c.admitAnswer(m)
	}
	c.refuse(*m)
	if m.object && (m.method == nil || present(m.result) || present(m.failure)) {
		return c.admitAnswer(m) // it may be meant as one
	}
	return nil
}

func (c *conn) admitRequest(m incoming) []byte {
	limits := c.server.limits
	request := &call{id: m.echo(), batch: m.batch}
	accepted := !c.isBehind() && c.ledger.accept(request, limits.unanswered)
	if !accepted && !(c.isUrgent(m) && c.ledger.accept(request, limits.unanswered+urgentRoom)) {
		m.err = &protocol.Error{
			Code: protocol.CodeOverloaded, Message: "Server overloaded; retry later.",
			Data: &protocol.ErrorData{Kind: protocol.KindOverloaded},
		}
		c.refuse(m)
		return nil
	}
	return requestStub(m.method, request.number)
}

func (c *conn) isBehind() bool { return c.out.backlog() > c.server.limits.backlog }

func (c *conn) isUrgent(m incoming) bool {
	var method string
	return protocol.Unmarshal(m.method, &method) == nil && c.server.methods[method].Urgent
}

// awaitRoom waits while a client sends on without reading what it is told: refusals
// take room, too. Meanwhile the end of its input is not seen; that of its output is.
func (c *conn) awaitRoom() {
	if c.out.backlog() <= c.server.limits.flood {
		return
	}
	if room := c.out.room(); room != nil {
		select {
		case <-room:
		case <-c.released:
		}
	}
}

// refuse answers a message that did not become a request.
func (c *conn) refuse(m incoming) {
	c.answer(&call{id: m.echo(), batch: m.batch}, nil, m.err)
}

// settle answers a request. A second answer is dropped.
func (c *conn) settle(number uint64, result any, err *protocol.Error) {
	request := c.ledger.take(number)
	if request == nil {
		c.log.Warn("answer to a request that has one", zap.Uint64("request", number))
		return
	}
	c.answer(request, result, err)
	c.ledger.settled()
}

func (c *conn) answer(request *call, result any, err *protocol.Error) {
	size := entryOverhead + len(request.id)
	if err != nil {
		size += len(err.Message)
	} else {
		size += estimate(result, c.server.limits.congestion)
	}
	c.out.add(&reply{call: request, result: result, err: err, bytes: size})
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
	c.out.add(&notice{n, entryOverhead + estimate(n, c.server.limits.congestion), time.Now()})
}

// rpcLog takes what jsonrpc2 has to say: answers that nobody waits for.
type rpcLog struct{ log *zap.Logger }

// Printf logs a line.
func (l rpcLog) Printf(format string, v ...any) { l.log.Sugar().Warnf(format, v...) }
