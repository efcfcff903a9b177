package peer

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"appserver/server/listen"
)

// maxMessage is the maximum length of a message of a link, in bytes. Messages of servers can be longer
// than those of clients.
const maxMessage = 256 << 20

// writeTimeout is the time in which the other node must read 64 KiB. A node reads no link while its client has more
// than 8 MiB of unread output, until less than 4 MiB are left. A client that reads 64 KiB in each 10 s, as it must,
// takes 11 minutes for that. The time of silence finds dead nodes.
const writeTimeout = 15 * time.Minute

// Port is bound for links from other nodes, and dials links to them.
type Port struct {
	options Options
	address string
	bound   net.Listener
	// accept is for accepted links, or nil for ws. tls is for dialed links.
	accept, tls      *tls.Config
	accepted, dialed atomic.Int64
}

// Service serves the connections of a port.
type Service struct {
	// Link serves one accepted link. The link is closed when it returns.
	Link func(ctx context.Context, link *Link) error
	// Metrics answers GET /metrics. It may be nil.
	Metrics http.Handler
}

// Link is a connection to another node. One goroutine may call Next while another one calls Write. It overrides Close,
// which also counts the links.
type Link struct {
	*listen.Client
	end func()
}

// Close closes the link, which also ends a Next and a Write. It can be called repeatedly.
func (l *Link) Close() { l.end() }

// Open checks the options and binds the port. The error is an *OptionError.
func Open(o Options) (*Port, error) {
	at, address, err := o.parseURLs()
	if err != nil {
		return nil, err
	}
	if err := o.checkSecret(); err != nil {
		return nil, err
	}
	roots, err := o.roots()
	if err != nil {
		return nil, err
	}
	p := &Port{options: o, tls: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots}}
	if p.accept, err = p.encryption(at, address, roots); err != nil {
		return nil, err
	}
	if p.bound, err = net.Listen("tcp", at.Host); err != nil {
		return nil, &OptionError{keyListen, fmt.Sprintf("the port cannot be bound: %v", err),
			"stop the other program, or choose another port or an address of this machine"}
	}
	if p.address = o.Address; address == nil {
		_, port, _ := net.SplitHostPort(p.bound.Addr().String())
		p.address = at.Scheme + "://" + net.JoinHostPort(at.Hostname(), port)
	}
	return p, nil
}

// Listen returns a listener that accepts the links of a service. Call it once.
func (p *Port) Listen(by Service) (*listen.Listener, error) {
	serve := func(ctx context.Context, c *listen.Client) error {
		p.accepted.Add(1)
		defer p.accepted.Add(-1)
		return by.Link(ctx, &Link{c, c.Close})
	}
	return listen.New(listen.Options{Bound: p.bound, TLS: p.accept, Admit: p.admission(by.Metrics), Serve: serve,
		MaxMessage: maxMessage, Silence: p.options.Silence, WriteTimeout: writeTimeout})
}

// encryption checks the certificate, and returns the configuration for accepted links, or nil for ws.
func (p *Port) encryption(at, address *url.URL, roots *x509.CertPool) (*tls.Config, error) {
	o := p.options
	if at.Scheme == "ws" {
		if o.Cert != "" || o.Key != "" {
			return nil, &OptionError{keyListen, "the address has no TLS, but fleet.cert or fleet.key is set",
				"write it as wss://HOST:PORT, or remove both keys"}
		}
		return nil, nil
	}
	pair, err := o.certificate()
	if err != nil {
		return nil, err
	}
	host := at.Hostname()
	if address != nil {
		host = address.Hostname()
	}
	if err := o.checkCertificate(pair, roots, host); err != nil {
		return nil, err
	}
	var last atomic.Pointer[tls.Certificate]
	last.Store(pair)
	return &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			if pair, err := o.certificate(); err == nil { // else it is being replaced
				last.Store(pair)
			}
			return last.Load(), nil
		}}, nil
}

// Address returns the URL that other nodes dial.
func (p *Port) Address() string { return p.address }

// Encrypted reports whether accepted links use TLS.
func (p *Port) Encrypted() bool { return p.accept != nil }

// Links returns the numbers of open links.
func (p *Port) Links() (accepted, dialed int64) { return p.accepted.Load(), p.dialed.Load() }

// admission answers health checks and requests for metrics, and admits requests with the secret.
func (p *Port) admission(metrics http.Handler) listen.Admission {
	return func(w http.ResponseWriter, r *http.Request) (subprotocol string, ok bool) {
		switch {
		case len(r.Header.Values("Origin")) > 0:
			http.Error(w, "requests with an Origin header are rejected", http.StatusForbidden)
			return "", false
		case r.URL.Path == "/healthz":
			return "", false
		case r.URL.Path == "/metrics" && metrics != nil:
			metrics.ServeHTTP(w, r)
			return "", false
		}
		if err := listen.StaticToken([]byte(p.options.Secret)).Authorize(r.Header); err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the secret is missing or another one", http.StatusUnauthorized)
			return "", false
		}
		return "", true
	}
}

// DialError reports a node that cannot be reached.
type DialError struct {
	// Address is the address of the node.
	Address string
	Err     error
}

// Error returns a message with the address and the cause.
func (e *DialError) Error() string { return fmt.Sprintf("the node at %s: %v", e.Address, e.Err) }

// Unwrap returns the cause.
func (e *DialError) Unwrap() error { return e.Err }

// ErrSecret reports that a node has another secret.
var ErrSecret = errors.New("the node does not accept the secret: " +
	"compare the variables that " + keySecret + " names on both nodes")

// errPlain reports an address without TLS.
var errPlain = errors.New("the address has no TLS, but fleet.listen of this node has: use wss on all nodes")

// Dial opens a link to the node with an address. The handshake takes at most 10 s. The error is a
// *DialError. The caller closes the link.
func (p *Port) Dial(ctx context.Context, address string) (*Link, error) {
	u, err := parseURL(keyAddress, address)
	if err == nil && u.Scheme == "ws" && p.Encrypted() {
		err = errPlain
	}
	if err != nil {
		return nil, &DialError{address, err}
	}
	c, err := listen.Dial(ctx, address, listen.DialOptions{Token: p.options.Secret, TLS: p.tls, MaxMessage: maxMessage,
		Silence: p.options.Silence, WriteTimeout: writeTimeout})
	if err != nil {
		return nil, &DialError{address, explainDial(err)}
	}
	p.dialed.Add(1)
	isClosed := new(atomic.Bool)
	return &Link{c.Client, func() {
		if isClosed.CompareAndSwap(false, true) {
			p.dialed.Add(-1)
			c.Close()
		}
	}}, nil
}

// explainDial adds the next action to errors that the configuration causes.
func explainDial(err error) error {
	var status *listen.StatusError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &status) && status.Status == http.StatusUnauthorized:
		return ErrSecret
	case errors.As(err, &certificate):
		return fmt.Errorf("its certificate is not accepted (%w): compare %s there and %s here",
			certificate.Err, keyCert, keyCA)
	}
	return err
}
