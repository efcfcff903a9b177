package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// service is a transport over HTTP. It adds headers to requests, cleans responses, recognizes refused sessions, and
// stops reading while too many requests are in flight. Responses are sent as requests, and the library starts each at
// once. A service that asks and accepts no responses would otherwise accumulate them without a limit.
type service struct {
	headers map[string]string
	next    http.RoundTripper
	sending chan struct{} // one element for each request without a response
}

func newService(headers map[string]string, next http.RoundTripper) *service {
	return &service{headers, next, make(chan struct{}, maxOpen)}
}

// RoundTrip sends a copy of the request.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		select {
		case s.sending <- struct{}{}:
			defer func() { <-s.sending }()
		case <-r.Context().Done():
			_ = r.Body.Close() // as the contract of RoundTrip requires
			return nil, context.Cause(r.Context())
		}
	}
	r = r.Clone(traceSent(r.Context()))
	for name, value := range s.headers {
		r.Header.Set(name, value)
	}
	response, err := s.next.RoundTrip(r)
	if err == nil {
		if err = refusalOf(r, response); err != nil {
			return nil, err
		}
		response.Body = &throttledBody{ReadCloser: response.Body, sending: s.sending, closed: make(chan struct{})}
		cleanBody(response)
	}
	return response, err
}

// usesLogin reports whether the tokens of a login are added to requests.
func (s *server) usesLogin() bool { return s.pool.Logins != nil && s.def.URL != "" && !s.def.Bearer }

// maxRedirects bounds the redirects of a request.
const maxRedirects = 5

// sameOrigin rejects redirects to other hosts, because requests have headers with secrets.
func sameOrigin(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > maxRedirects || r.URL.Scheme != first.Scheme || !strings.EqualFold(r.URL.Host, first.Host) {
		return fmt.Errorf("it redirects to %s://%s: set its url to the right address", r.URL.Scheme, r.URL.Host)
	}
	return nil
}

// throttledBody is the body of a response, which is read only while the service accepts requests. It overrides Read and
// Close.
type throttledBody struct {
	io.ReadCloser
	sending chan struct{}
	closed  chan struct{}
	closing sync.Once
}

func (b *throttledBody) Read(p []byte) (int, error) {
	select {
	case b.sending <- struct{}{}:
		<-b.sending
	case <-b.closed:
	}
	return b.ReadCloser.Read(p)
}

func (b *throttledBody) Close() error {
	b.closing.Do(func() { close(b.closed) })
	return b.ReadCloser.Close()
}
