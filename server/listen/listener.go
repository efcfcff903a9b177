package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// handshakeTimeout limits the time to send request headers, and the life of connections
	// without WebSocket.
	handshakeTimeout = 10 * time.Second
	maxHeaderBytes   = 16 << 10
	// DefaultWriteTimeout is the default of Options.WriteTimeout.
	DefaultWriteTimeout = 10 * time.Second
	// closeTimeout limits the time to reply to a close frame.
	closeTimeout = 250 * time.Millisecond
	// maxUnfragmentedHeader is the response header in which the reference implementation
	// announces its maximum frame size. Its clients require a number. This server accepts
	// frames of any size.
	maxUnfragmentedHeader = "X-Codex-Websocket-Max-Unfragmented-Message-Bytes"
)

// Options configures a Listener.
type Options struct {
	Address Address
	// Bound is used in place of Address, if it is not nil. New does not close it if it fails.
	Bound net.Listener
	// TLS encrypts the connections, unless it is nil.
	TLS *tls.Config
	// TokenCheck validates the token of each request to a port. A port requires it or Admit.
	TokenCheck TokenCheck
	// Admit replaces all checks of requests to a port, health checks included. See [Admission].
	Admit Admission
	// Ready returns the error with which GET /readyz responds, or nil. A nil Ready returns none.
	Ready func() error
	// Serve runs one connection. The connection is closed when it returns.
	Serve func(context.Context, *Client) error
	// WriteTimeout limits the time in which a client must read some output. 0 means
	// DefaultWriteTimeout.
	WriteTimeout time.Duration
	// MaxMessage is the maximum length of a received message, in bytes. 0 means 64 MiB.
	MaxMessage int
	// Intake bounds the memory of unfinished messages of all listeners that share it. nil is no bound.
	Intake *Intake
	// Silence is the time after which a connection ends from which nothing arrives. 0 is no limit.
	// See [Dial] for the heartbeats that prevent it.
	Silence time.Duration
}

// Admission answers a request and returns false, or it admits the request as a client and
// returns true with the WebSocket subprotocol to select, or "".
type Admission func(w http.ResponseWriter, r *http.Request) (subprotocol string, ok bool)

// Listener accepts clients. New binds the address; Serve serves the connections.
type Listener struct {
	Options
	accept net.Listener
	http   http.Server

	mu        sync.Mutex
	clients   int           // open connections
	noClients chan struct{} // closed when clients becomes 0; nil if Wait is not running
}

// New binds the address. It creates the socket if the address is a path.
func New(o Options) (*Listener, error) {
	if o.WriteTimeout == 0 {
		o.WriteTimeout = DefaultWriteTimeout
	}
	l := &Listener{Options: o}
	var err error
	switch {
	case o.Bound != nil:
		l.accept = o.Bound
	case o.Address.Path != "":
		l.accept, err = listenUnix(o.Address.Path)
	case o.TokenCheck == nil && o.Admit == nil:
		return nil, errors.New("listen: a port requires a token check")
	default:
		l.accept, err = net.Listen("tcp", o.Address.Port.String())
	}
	if err != nil {
		return nil, err
	}
	l.http = http.Server{
		Handler: l, ReadTimeout: handshakeTimeout, MaxHeaderBytes: maxHeaderBytes, ErrorLog: log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, rawConn{}, c) },
		// net/http would answer OPTIONS * itself, without Admit.
		DisableGeneralOptionsHandler: o.Admit != nil,
	}
	return l, nil
}

// rawConn is the context key of the connection of a request.
type rawConn struct{}

// URL returns the address as a --listen URL, with the port that was chosen.
func (l *Listener) URL() string {
	if l.Address.Path != "" {
		return schemeUnix + l.Address.Path
	}
	if l.TLS != nil {
		return schemeWSS + l.accept.Addr().String()
	}
	return schemeWS + l.accept.Addr().String()
}

// Addr returns the address that was bound.
func (l *Listener) Addr() net.Addr { return l.accept.Addr() }

// Serve accepts clients until Stop. It returns nil after Stop.
func (l *Listener) Serve() error {
	var accept net.Listener = timeoutListener{l.accept, l.WriteTimeout, l.Silence, new(handshakes)}
	if l.TLS != nil {
		accept = tls.NewListener(accept, l.TLS)
	}
	if err := l.http.Serve(accept); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("accept clients on %s: %w", l.URL(), err)
	}
	return nil
}

// Stop stops accepting and removes the socket. Open connections continue.
func (l *Listener) Stop() error {
	// http.Server closes the socket only after Serve was called, so it is closed here as well.
	err := errors.Join(l.http.Close(), l.accept.Close())
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Wait waits until all clients have disconnected, or until ctx ends.
func (l *Listener) Wait(ctx context.Context) error {
	l.mu.Lock()
	if l.clients > 0 && l.noClients == nil {
		l.noClients = make(chan struct{})
	}
	empty, here := l.noClients, l.clients
	l.mu.Unlock()
	if here == 0 {
		return nil
	}
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("listen: clients are still connected: %w", ctx.Err())
	}
}

// ServeHTTP upgrades admitted requests to WebSocket.
func (l *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	admit := l.admit
	if l.Admit != nil {
		admit = l.Admit
	}
	if subprotocol, ok := admit(w, r); ok {
		l.serveWebSocket(w, r, subprotocol)
	}
}

// admit answers health checks, and admits all other requests to a socket, and to a port with
// the token.
func (l *Listener) admit(w http.ResponseWriter, r *http.Request) (subprotocol string, ok bool) {
	port := l.Address.Path == ""
	if port && len(r.Header.Values("Origin")) > 0 {
		http.Error(w, "requests with an Origin header are rejected", http.StatusForbidden)
		return "", false
	}
	if r.URL.Path == "/healthz" {
		return "", false
	}
	if r.URL.Path == "/readyz" {
		l.respondReady(w)
		return "", false
	}
	if port {
		if err := l.TokenCheck.Authorize(r.Header); err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return "", false
		}
	}
	return "", true
}

// respondReady responds with 200, or with 503 and the reason.
func (l *Listener) respondReady(w http.ResponseWriter) {
	if l.Ready == nil {
		return
	}
	if err := l.Ready(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// addClient counts a client. It returns false if there are too many.
func (l *Listener) addClient() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clients >= maxClients {
		return false
	}
	l.clients++
	return true
}

func (l *Listener) removeClient() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clients--
	if l.clients == 0 && l.noClients != nil {
		close(l.noClients)
		l.noClients = nil
	}
}

// serveWebSocket upgrades a request and serves the connection until its end.
func (l *Listener) serveWebSocket(w http.ResponseWriter, r *http.Request, subprotocol string) {
	if !l.addClient() {
		http.Error(w, fmt.Sprintf("%d clients are connected: close some, and connect again", maxClients),
			http.StatusServiceUnavailable)
		return
	}
	defer l.removeClient()
	w.Header().Set(maxUnfragmentedHeader, fmt.Sprint(frameBytes))
	// InsecureSkipVerify skips the check of the Origin, because admission has checked it.
	o := &websocket.AcceptOptions{InsecureSkipVerify: true}
	if subprotocol != "" {
		o.Subprotocols = []string{subprotocol}
	}
	ws, err := websocket.Accept(w, r, o)
	if err != nil {
		return // Accept has replied
	}
	raw := r.Context().Value(rawConn{}).(net.Conn)
	if encrypted, ok := raw.(*tls.Conn); ok {
		raw = encrypted.NetConn()
	}
	if conn, ok := raw.(*timeoutConn); ok {
		conn.handshakes.end(conn)
	}
	c := newClient(ws, raw, l.MaxMessage, l.Intake)
	stop := c.beat(l.Silence)
	_ = l.Options.Serve(context.WithoutCancel(r.Context()), c) // Options.Serve logs its own errors
	stop()
	c.Close()
}

// HealthURL returns the base URL of the health checks, or "" for a Unix socket.
func (l *Listener) HealthURL() string {
	if l.Address.Path != "" {
		return ""
	}
	return "http://" + l.accept.Addr().String()
}
