package httpclient

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Environment makes transports that obey the variables of an environment. It is safe for concurrent use.
type Environment struct{ read func() *settings }

// settings are the variables. NoTLS is the reason why no request over TLS can be made, or nil.
type settings struct {
	*proxies
	tls   *tls.Config
	noTLS error
}

// New returns an environment. It reads the variables at the first request.
func New(getenv func(string) string) *Environment {
	return &Environment{sync.OnceValue(func() *settings {
		s := &settings{proxies: readProxies(getenv), tls: &tls.Config{MinVersion: tls.VersionTLS12}}
		s.tls.RootCAs, s.noTLS = roots(getenv)
		return s
	})}
}

// Transport is a transport with connections of its own.
type Transport struct {
	env  *Environment
	next func() *http.Transport
}

// Transport returns a new transport. The caller closes its idle connections.
func (e *Environment) Transport() *Transport {
	return &Transport{e, sync.OnceValue(func() *http.Transport { return newTransport(e.read()) })}
}

// newTransport returns a transport with a quicker end than the default one for connections that cannot be made or are
// dead, and without the limit of two idle connections.
func newTransport(s *settings) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) {
			p, err := s.of(r.URL)
			if p == nil {
				return nil, err
			}
			return p.URL, nil
		},
		OnProxyConnectResponse: connected,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		TLSClientConfig:        s.tls.Clone(), // the transport adds HTTP/2 to it at its first request
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        90 * time.Second,
	}
}

// RoundTrip sends a request. The error is a *SetupError if a variable of the environment is invalid, and a
// *ProxyError if the proxy is the reason.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	s := t.env.read()
	via, err := s.of(r.URL)
	if err == nil && (r.URL.Scheme == "https" || via != nil && via.Scheme == "https") {
		err = s.noTLS
	}
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // as the contract of RoundTrip requires
		}
		return nil, err
	}
	answer, err := t.next().RoundTrip(r)
	if via == nil {
		return answer, err
	}
	if err == nil && answer.StatusCode == http.StatusProxyAuthRequired {
		_ = answer.Body.Close()
		err = refusedBy(via.URL, answer)
	}
	if err != nil {
		return nil, via.blamed(err)
	}
	return answer, nil
}

// blamed returns the error of a request through the proxy, as a *ProxyError if the proxy is the reason.
func (p *proxy) blamed(err error) error {
	var refused *ProxyError
	if errors.As(err, &refused) {
		refused.Variable = p.variable
		return refused
	}
	var failed *net.OpError
	if errors.As(err, &failed) && (failed.Op == "proxyconnect" || strings.HasPrefix(failed.Op, "socks")) {
		return &ProxyError{Proxy: p.Host, Variable: p.variable, reason: reasonOf(failed), err: err}
	}
	return err
}

// reasonOf returns the reason of a failed connection to a proxy.
func reasonOf(failed *net.OpError) string {
	if failed.Op == "proxyconnect" {
		return failed.Err.Error()
	}
	return failed.Op + " " + failed.Err.Error()
}

// Dialing returns a transport whose requests without a proxy connect by a function. It keeps no connections.
func (t *Transport) Dialing(dial func(ctx context.Context, network, address string) (net.Conn, error)) *Transport {
	return &Transport{t.env, sync.OnceValue(func() *http.Transport {
		next := t.next().Clone()
		next.DialContext, next.DisableKeepAlives = dial, true
		return next
	})}
}

// Via returns the proxy of requests to a URL, with the name of its variable, or "".
func (t *Transport) Via(u *url.URL) string {
	if via, err := t.env.read().of(u); err == nil && via != nil {
		return via.String()
	}
	return ""
}

// ProxyOf returns the host and port of the proxy of requests to a URL, and its variable, or "".
func (t *Transport) ProxyOf(u *url.URL) (host, variable string, err error) {
	via, err := t.env.read().of(u)
	if via == nil || err != nil {
		return "", "", err
	}
	if via.Port() != "" {
		return via.Host, via.variable, nil
	}
	return net.JoinHostPort(via.Hostname(), defaultPort(via.Scheme)), via.variable, nil
}

// CloseIdleConnections closes the connections that no request uses.
func (t *Transport) CloseIdleConnections() { t.next().CloseIdleConnections() }

// Direct returns a transport for connections to servers of this program. It uses no proxy and keeps no connection.
// The configuration of TLS and the function that connects can be nil.
func Direct(config *tls.Config,
	dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Transport {
	return &http.Transport{TLSClientConfig: config, DialContext: dial, DisableKeepAlives: true}
}
