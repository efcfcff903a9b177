package listen

import (
	"context"
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
	// handshakeTime is how long a client may take to say what it wants, and whoever is none
	// may keep a connection without doing so.
	handshakeTimeout = 10 * time.Second
	maxHeaderBytes   = 16 << 10
	// Patience is how long a client may take nothing.
	DefaultWriteTimeout = 10 * time.Second
	// farewellTime is how long a client may take to close its end.
	closeTimeout = 250 * time.Millisecond
	// unfragmentedHeader tells clients of the reference implementation how long a message
	// may be in one frame. Here any may; they need to be told a number.
	maxUnfragmentedHeader = "X-Codex-Websocket-Max-Unfragmented-Message-Bytes"
)

// Options are what a Listener is made of.
type Options struct {
	Address Address
	// Bearer is asked for the token of each client of a port. It must be set there.
	TokenCheck TokenCheck
	// Serve runs one connection, until the client leaves or is not to be served any more.
	Serve func(context.Context, *Client) error
	// Patience is how long a client may take nothing; 0 stands for Patience.
	WriteTimeout time.Duration
}

// Listener accepts clients from New on, and serves them in Serve.
type Listener struct {
	Options
	accept net.Listener
	http   http.Server

	mu        sync.Mutex
	clients   int           // clients
	noClients chan struct{} // closed when the last of them has gone; nil where nobody waits
}

// New takes the address.
func New(o Options) (*Listener, error) {
	if o.WriteTimeout == 0 {
		o.WriteTimeout = DefaultWriteTimeout
	}
	l := &Listener{Options: o}
	var err error
	switch {
	case o.Address.Path != "":
		l.accept, err = listenUnix(o.Address.Path)
	case o.TokenCheck == nil:
		return nil, errors.New("listen: a port without a bearer token")
	default:
		l.accept, err = net.Listen("tcp", o.Address.Port.String())
	}
	if err != nil {
		return nil, err
	}
	l.http = http.Server{
		Handler: l, ReadTimeout: handshakeTimeout, MaxHeaderBytes: maxHeaderBytes, ErrorLog: log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, rawConn{}, c) },
	}
	return l, nil
}

// rawConn is the key of a request's connection in its context.
type rawConn struct{}

// Where is the address as clients write it.
func (l *Listener) URL() string {
	if l.Address.Path != "" {
		return schemeUnix + l.Address.Path
	}
	return schemeWS + l.accept.Addr().String()
}

// Serve accepts until Stop. Its error is what else ended it.
func (l *Listener) Serve() error {
	if err := l.http.Serve(timeoutListener{l.accept, l.WriteTimeout}); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("accept clients on %s: %w", l.URL(), err)
	}
	return nil
}

// Stop ends accepting, and removes the socket. Clients stay.
func (l *Listener) Stop() error {
	// The socket is closed here, since the HTTP server does not know it before Serve.
	err := errors.Join(l.http.Close(), l.accept.Close())
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Wait waits until all clients are gone, at most until ctx ends.
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
		return fmt.Errorf("listen: clients are still there: %w", ctx.Err())
	}
}

// ServeHTTP answers what asks for the server's health, and opens all others' connections.
func (l *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	port := l.Address.Path == ""
	if port && len(r.Header.Values("Origin")) > 0 {
		http.Error(w, "requests of web pages are refused", http.StatusForbidden)
		return
	}
	if r.URL.Path == "/readyz" || r.URL.Path == "/healthz" {
		return
	}
	if port {
		if err := l.TokenCheck.authorize(r.Header); err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
	}
	l.serveWebSocket(w, r)
}

func (l *Listener) addClient() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clients++
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

// open makes a request a connection, and runs it to its end.
func (l *Listener) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	l.addClient()
	defer l.removeClient()
	w.Header().Set(maxUnfragmentedHeader, fmt.Sprint(frameBytes))
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // the Origin was looked at
	if err != nil {
		return // the client was told
	}
	ws.SetReadLimit(-1) // Client has its own
	c := &Client{ws: ws}
	_ = l.Options.Serve(context.WithoutCancel(r.Context()), c) // whoever serves tells of it
	raw := r.Context().Value(rawConn{}).(net.Conn)
	c.close(raw)
}

// Health is where the server's health can be asked for, "" where that is on a socket.
func (l *Listener) HealthURL() string {
	if l.Address.Path != "" {
		return ""
	}
	return "http://" + l.accept.Addr().String()
}
