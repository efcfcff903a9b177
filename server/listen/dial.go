package listen

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"appserver/platform/httpclient"
)

// DialOptions configures a Dial.
type DialOptions struct {
	// Token is the bearer token.
	Token string
	// TLS is for addresses with wss.
	TLS *tls.Config
	// WriteTimeout, MaxMessage and Silence are as in Options.
	WriteTimeout time.Duration
	MaxMessage   int
	Silence      time.Duration
}

// StatusError reports that the other side answered the handshake with an HTTP status other than
// that of WebSocket.
type StatusError struct{ Status int }

// Error returns a message with the status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("the handshake was answered with %d %s", e.Status, http.StatusText(e.Status))
}

// Dial connects to a listener at a URL with ws or wss. It uses no proxy. The handshake takes at
// most 10 s. The caller calls Close.
//
// Both sides send heartbeats, three within the time of silence, unless they send messages. So a
// connection from which nothing arrives for this time, while Next waits, has lost the other side:
// its process is suspended, or the network is divided. Next returns an error then.
func Dial(ctx context.Context, url string, o DialOptions) (*Dialed, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	var raw *timeoutConn
	transport := httpclient.Direct(o.TLS, func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		raw = &timeoutConn{Conn: c, write: cmp.Or(o.WriteTimeout, DefaultWriteTimeout), silence: o.Silence}
		return raw, err
	})
	client := &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ws, answer, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: client,
		HTTPHeader: http.Header{"Authorization": {"Bearer " + o.Token}}})
	switch {
	case err != nil && answer != nil && answer.StatusCode != http.StatusSwitchingProtocols:
		return nil, &StatusError{answer.StatusCode}
	case err != nil:
		return nil, err
	}
	c := newClient(ws, raw, o.MaxMessage, nil)
	return &Dialed{Client: c, stop: c.beat(o.Silence)}, nil
}

// Dialed is a connection that this process has opened. It overrides Close, which also ends the heartbeats.
type Dialed struct {
	*Client
	stop func()
}

// Close closes the connection, which also ends a Next and a Write. It can be called repeatedly.
func (d *Dialed) Close() {
	d.stop()
	d.Client.Close()
}
