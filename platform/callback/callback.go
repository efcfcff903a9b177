package callback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// closeTime bounds the time to close the port.
const closeTime = time.Second

// Page is a response to the browser.
type Page struct {
	Status int
	// Text is shown as it is. It must have nothing of the request.
	Text string
}

// Port is a port of 127.0.0.1 that is open for browsers.
type Port struct {
	listener net.Listener
	server   *http.Server
}

// Listen opens a port. 0 is a free one. The error has no address.
func Listen(port int) (*Port, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		if cause := new(net.OpError); errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, err
	}
	return &Port{listener: listener}, nil
}

// Number returns the number of the port.
func (p *Port) Number() string {
	_, number, _ := net.SplitHostPort(p.listener.Addr().String()) // it has a port
	return number
}

// Serve answers browsers in other goroutines until the port is closed. Requests for the path get the page that answer
// returns for their query, and all others get none.
func (p *Port) Serve(path string, answer func(url.Values) Page) {
	p.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			page := Page{http.StatusNotFound, "There is nothing here."}
			if r.Method == http.MethodGet && r.URL.Path == path {
				page = answer(r.URL.Query())
			}
			page.send(w)
		})}
	go func() { _ = p.server.Serve(p.listener) }()
}

// Close closes the port. It waits a moment until the browser has its page.
func (p *Port) Close() {
	if p.server == nil {
		_ = p.listener.Close()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if p.server.Shutdown(ctx) != nil {
		_ = p.server.Close()
	}
}

func (p Page) send(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	w.WriteHeader(p.Status)
	fmt.Fprintf(w, "<!doctype html><meta charset=utf-8><title>appserver</title><p>%s</p>\n", p.Text)
}
