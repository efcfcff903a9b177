package remote

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/coder/websocket"
	"github.com/sourcegraph/jsonrpc2"

	"appserver/protocol"
	"appserver/server/listen"
)

const (
	// connectTimeout limits the connection to one server.
	connectTimeout = 5 * time.Second
	// maxMessage is the maximum length of a message of the server, in bytes.
	maxMessage = 256 << 20
)

// Server is a connection to a running server.
type Server struct {
	rpc *jsonrpc2.Conn
}

// Find returns a connection to the running server of a home that has a thread loaded, or nil if none of
// the servers that can be found has it. The client gives its name and its version to the server.
func Find(ctx context.Context, home, threadID string, client protocol.ClientInfo) *Server {
	for dial := range dialers(ctx, home) {
		s, err := connect(ctx, dial, client)
		if err != nil {
			continue // its server ends, or is busy
		}
		if s.has(ctx, threadID) {
			return s
		}
		s.Close()
	}
	return nil
}

// Control returns a connection to the server on the control socket of a home. The error is fs.ErrNotExist if there is
// no socket.
func Control(ctx context.Context, home string, client protocol.ClientInfo) (*Server, error) {
	address, err := listen.Parse("unix://", home)
	if err != nil {
		return nil, err
	}
	return Socket(ctx, address.Path, client)
}

// Socket returns a connection to the server on a Unix socket. The error is fs.ErrNotExist if there is no socket.
func Socket(ctx context.Context, path string, client protocol.ClientInfo) (*Server, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return connect(ctx, dialSocket(path), client)
}

func connect(ctx context.Context, dial dialer, client protocol.ClientInfo) (*Server, error) {
	timed, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := dial(timed)
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(maxMessage)
	stream := jsonrpc2.NewPlainObjectStream(websocket.NetConn(context.WithoutCancel(ctx), conn, websocket.MessageText))
	s := &Server{jsonrpc2.NewConn(context.WithoutCancel(ctx), stream, deaf{})}
	// The client resumes no thread, so it gets few notifications.
	if err := s.rpc.Call(timed, "initialize", protocol.InitializeParams{ClientInfo: client}, nil); err != nil {
		s.Close()
		return nil, err
	}
	return s, s.rpc.Notify(timed, "initialized", protocol.Empty{})
}

// deaf ignores notifications and requests of the server.
type deaf struct{}

// Handle does nothing.
func (deaf) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {}

// has reports whether the server has a thread loaded.
func (s *Server) has(ctx context.Context, threadID string) bool {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	var loaded protocol.ThreadLoadedListResponse
	var p protocol.ThreadLoadedListParams
	for s.rpc.Call(ctx, "thread/loaded/list", p, &loaded) == nil {
		if slices.Contains(loaded.Data, threadID) {
			return true
		}
		if p.Cursor = loaded.NextCursor; p.Cursor == nil {
			break
		}
	}
	return false
}

// Call calls a method. An error of the server is a *protocol.Error.
func (s *Server) Call(ctx context.Context, method string, params json.RawMessage) (result json.RawMessage, err error) {
	err = s.rpc.Call(ctx, method, params, &result)
	var refused *jsonrpc2.Error
	if !errors.As(err, &refused) {
		return result, err
	}
	e := &protocol.Error{Code: int(refused.Code), Message: refused.Message}
	if refused.Data != nil {
		_ = protocol.Unmarshal(*refused.Data, &e.Data) // the message suffices
	}
	return nil, e
}

// Lost reports whether the connection has ended.
func (s *Server) Lost() bool {
	select {
	case <-s.rpc.DisconnectNotify():
		return true
	default:
		return false
	}
}

// Close closes the connection.
func (s *Server) Close() { _ = s.rpc.Close() }
