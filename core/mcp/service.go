package mcp

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// service is a way to a service over HTTP: it adds headers to requests, and reads no further while
// it sends the most at once. Answers are requests, too, and the library begins each at once: one
// that asks and takes no answers would have any number kept.
type service struct {
	headers map[string]string
	next    http.RoundTripper
	sending chan struct{} // has an element for each request that is not answered
}

func newService(headers map[string]string, next http.RoundTripper) *service {
	return &service{headers, next, make(chan struct{}, mostAsked)}
}

// RoundTrip sends a copy of the request.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		select {
		case s.sending <- struct{}{}:
			defer func() { <-s.sending }()
		case <-r.Context().Done():
			_ = r.Body.Close() // as every RoundTrip has to
			return nil, context.Cause(r.Context())
		}
	}
	r = r.Clone(r.Context())
	for name, value := range s.headers {
		r.Header.Set(name, value)
	}
	response, err := s.next.RoundTrip(r)
	if err == nil {
		response.Body = &heldBody{ReadCloser: response.Body, sending: s.sending, closed: make(chan struct{})}
	}
	return response, err
}

// heldBody is what a service says, as long as it takes what is said to it.
type heldBody struct {
	io.ReadCloser
	sending chan struct{}
	closed  chan struct{}
	closing sync.Once
}

func (b *heldBody) Read(p []byte) (int, error) {
	select {
	case b.sending <- struct{}{}:
		<-b.sending
	case <-b.closed:
	}
	return b.ReadCloser.Read(p)
}

func (b *heldBody) Close() error {
	b.closing.Do(func() { close(b.closed) })
	return b.ReadCloser.Close()
}
