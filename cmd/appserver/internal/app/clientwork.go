package app

import (
	"context"
	"errors"
	"sync"

	"go.uber.org/zap"

	"appserver/protocol"
	"appserver/server"
)

const (
	// maxWork bounds the requests that clientWork answers at a time, and maxWorkOfClient those of one client.
	maxWork, maxWorkOfClient = 32, 4
)

// clientWork answers requests that wait for other programs, each in a goroutine of its own. The work for a client ends
// with its connection.
type clientWork struct {
	server *server.Server
	log    *zap.Logger

	mu      sync.Mutex
	closed  bool
	running int
	clients map[uint64]*workOfClient
	all     sync.WaitGroup
}

// workOfClient is the running work for a connection.
type workOfClient struct {
	ctx     context.Context
	cancel  context.CancelFunc
	running int
}

func newClientWork(srv *server.Server, log *zap.Logger) *clientWork {
	return &clientWork{server: srv, log: log, clients: map[uint64]*workOfClient{}}
}

// run replies to a request with the result of a function. It does not wait for it.
func (w *clientWork) run(to protocol.Caller, answer func(ctx context.Context) (any, error)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.clients[to.Conn]
	switch {
	case w.closed, !w.server.Connected(to.Conn):
		return protocol.Refuse(protocol.KindShuttingDown, "the server is shutting down, or the connection has ended")
	case w.running == maxWork, of != nil && of.running == maxWorkOfClient:
		return &protocol.Error{Code: protocol.CodeOverloaded,
			Message: "too many checks run; wait for one of them and try again",
			Data:    &protocol.ErrorData{Kind: protocol.KindOverloaded}}
	case of == nil:
		of = &workOfClient{}
		of.ctx, of.cancel = context.WithCancel(context.Background())
		w.clients[to.Conn] = of
	}
	w.running++
	of.running++
	w.all.Go(func() {
		result, err := w.try(of.ctx, answer)
		w.finish(to.Conn, of)
		if err != nil {
			w.server.Refuse(to, err)
			return
		}
		w.server.Reply(to, result)
	})
	return nil
}

// try calls the function. A panic is logged, and returned as an internal error.
func (w *clientWork) try(ctx context.Context, answer func(ctx context.Context) (any, error)) (
	result any, refusal *protocol.Error,
) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("recovered from a panic", zap.Any("panic", p), zap.Stack("stack"))
			refusal = protocol.Internal(protocol.KindInternal, "internal error; details are in the server's log")
		}
	}()
	result, err := answer(ctx)
	if err != nil && !errors.As(err, &refusal) {
		refusal = protocol.Internal(protocol.KindInternal, "%v", err)
	}
	return result, refusal
}

// finish takes a finished request from the running ones.
func (w *clientWork) finish(conn uint64, of *workOfClient) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	if of.running--; of.running == 0 {
		of.cancel()
		if w.clients[conn] == of {
			delete(w.clients, conn)
		}
	}
}

// gone cancels the work for a connection. It does not wait.
func (w *clientWork) gone(conn uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if of := w.clients[conn]; of != nil {
		of.cancel()
		delete(w.clients, conn)
	}
}

// close cancels all work, and waits for its end.
func (w *clientWork) close() {
	w.mu.Lock()
	w.closed = true
	for _, of := range w.clients {
		of.cancel()
	}
	w.mu.Unlock()
	w.all.Wait()
}
