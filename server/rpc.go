package server

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"
	"go.uber.org/zap"

	"appserver/protocol"
)

// rpc is the connection of jsonrpc2, which only this file uses. The library does this: one goroutine reads the stream,
// and calls the handler in the order of arrival; responses of the client go to the requests that wait for them; the end
// of the stream ends both. It sees stubs: messages with ids of the server, and without params and results. So the ids
// of clients, bodies, batches, limits, and the order of the output are the server's own.
type rpc struct{ conn *jsonrpc2.Conn }

// startRPC starts to read the stream of a connection.
func startRPC(ctx context.Context, c *conn) *rpc {
	return &rpc{jsonrpc2.NewConn(ctx, c.stream, rpcHandler{c},
		jsonrpc2.OnRecv(func(req *jsonrpc2.Request, resp *jsonrpc2.Response) { restoreBodies(c.stream, req, resp) }),
		jsonrpc2.SetLogger(rpcLog{c.log}))}
}

// notify writes the outgoing message of the stream, which has no response.
func (r *rpc) notify(method string) error { return r.conn.Notify(context.Background(), method, nil) }

// respond writes the outgoing message of the stream, the response to a request.
func (r *rpc) respond(number uint64) error {
	return r.conn.SendResponse(context.Background(), &jsonrpc2.Response{ID: jsonrpc2.ID{Num: number}})
}

// awaited waits for the response to a request. An error of the client is a *protocol.Error.
type awaited func(ctx context.Context) (json.RawMessage, error)

// ask writes the outgoing message of the stream, a request. The id is registered as a string, because the library
// replaces the number 0.
func (r *rpc) ask(id uint64, method string) (awaited, error) {
	waiter, err := r.conn.DispatchCall(context.Background(), method, nil,
		jsonrpc2.PickID(jsonrpc2.ID{Str: serverRequestID(id), IsString: true}))
	return func(ctx context.Context) (result json.RawMessage, err error) {
		err = waiter.Wait(ctx, &result)
		var refused *jsonrpc2.Error
		if errors.As(err, &refused) {
			err = &protocol.Error{Code: int(refused.Code), Message: refused.Message}
		}
		return result, err
	}, err
}

// close ends the connection. It fails only if the context has ended it already.
func (r *rpc) close() { _ = r.conn.Close() }

// isClosedRPC reports whether a message was not written because the connection has ended.
func isClosedRPC(err error) bool { return errors.Is(err, jsonrpc2.ErrClosed) }

// rpcHandler passes requests and notifications to a connection, on the reader goroutine.
type rpcHandler struct{ *conn }

// Handle serves one request or notification of the client.
func (h rpcHandler) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if req.Notif {
		h.receiveNotification(req.Method)
		return
	}
	if err := h.dispatch(req.ID.Num, req.Method, *req.Params); err != nil {
		h.respond(req.ID.Num, nil, asProtocolError(err))
	}
}

// restoreBodies inserts the body of the stream's current message into the values that the library decoded from its
// stub.
func restoreBodies(s *stream, req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	switch {
	case resp == nil:
		req.Params = (*json.RawMessage)(&s.current.params)
	case resp.Error != nil:
		refused := readResponseError(s.current.errorMember)
		resp.Error.Code, resp.Error.Message = int64(refused.Code), refused.Message
	default:
		result := json.RawMessage(append([]byte{}, s.current.result...))
		resp.Result = &result
	}
}

// serverRequestID formats an id: a number on the wire, a string in the library.
func serverRequestID(id uint64) string { return strconv.FormatUint(id, 10) }

// rpcLog writes the log lines of the library, which reports unexpected responses.
type rpcLog struct{ log *zap.Logger }

// Printf logs a warning.
func (l rpcLog) Printf(format string, v ...any) { l.log.Sugar().Warnf(format, v...) }
