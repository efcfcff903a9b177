package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"appserver/core"
	"appserver/protocol"
)

// settleTime is how long what follows a finish_reason is awaited, and the body of
// an HTTP error.
const settleTime = 5 * time.Second

// errorBodyLimit bounds what is read of the body of an HTTP error, in bytes.
const errorBodyLimit = 64 << 10

// exchange is one request and its answer.
type exchange struct {
	provider *Client
	target   *target
	idle     *idle
	answer   *http.Response
	body     *eventBody
	pieces   *joiner
	// thread and session are the ids of the prompt, or "".
	thread, session string
}

// Endpoint returns the endpoint and the URL of the request.
func (x *exchange) Endpoint() (e Endpoint, url string) {
	return x.target.endpoint, x.target.url.String()
}

// ReportsProgress reports whether the endpoint is known to report how far it has read the prompt.
func (x *exchange) ReportsProgress() bool { return x.provider.software() == llamaCpp }

// TakesNoEffort reports whether the endpoint is known to take the effort none.
func (x *exchange) TakesNoEffort() bool { return x.provider.software() == ollama }

// add passes a piece of the answer on.
func (x *exchange) add(p core.Piece) {
	if p.Kind != core.PieceProgress {
		x.idle.answered()
	}
	x.pieces.add(p)
}

// close ends the exchange, if the answer was read or not.
func (x *exchange) close() {
	x.idle.stop()
	if x.answer != nil {
		x.answer.Body.Close()
	}
}

// requestURL returns the place below an endpoint that takes requests.
func requestURL(e Endpoint, path ...string) (*url.URL, error) {
	u, err := url.Parse(e.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("model provider %q: base_url is not an http or https URL; correct it in config.toml", e.Name)
	}
	u.Path = cmp.Or(u.Path, "/")
	u = u.JoinPath(path...)
	query := u.Query()
	for name, value := range e.Query {
		query.Set(name, value)
	}
	u.RawQuery = query.Encode()
	return u, nil
}

// Do sends a request. It fails with *connectError if no answer came and with *statusError for any
// status but 2xx. collect reads the body of an answer.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	x.amend(req)
	if err := x.idle.await(); err != nil {
		return nil, &connectError{err}
	}
	res, err := x.provider.client.Do(req)
	x.idle.stop()
	if err != nil {
		return nil, &connectError{idleCause(req.Context(), err)}
	}
	x.provider.recogniseHeader(res.Header)
	x.provider.report(res.Header)
	reader := &idleReader{src: res.Body, idle: x.idle, before: x.pieces.flush}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		defer res.Body.Close()
		x.idle.renew(settleTime)
		body, _ := io.ReadAll(io.LimitReader(reader, errorBodyLimit))
		return nil, &statusError{res.StatusCode, res.Header, x.provider.withoutSecrets(body)}
	}
	x.answer, x.body = res, newEventBody(reader, res, x.provider)
	return res, nil
}

// amend sets the endpoint's URL and headers in a request.
func (x *exchange) amend(req *http.Request) {
	req.URL = x.target.url
	x.provider.endpoint.Identity.sign(req.Header)
	// A nil value is not sent. It permits the transport to resend the request on a new connection after a
	// kept connection turns out to be closed.
	req.Header["Idempotency-Key"] = nil
	if x.target.ofLogin() {
		x.name(req.Header)
	}
	for name, value := range x.target.endpoint.Headers {
		req.Header.Set(name, value)
	}
}

// name names the thread in a request of an account, as the reference implementation does.
func (x *exchange) name(h http.Header) {
	h.Set("Version", protocol.Level)
	if x.thread != "" {
		h.Set("Thread-Id", x.thread)
		h.Set("Session-Id", cmp.Or(x.session, x.thread))
	}
}

// collect reads the answer to its end.
func (x *exchange) collect(ctx context.Context, r Reading) (core.Answer, error) {
	defer x.pieces.flush()
	for {
		raw, err := x.body.next()
		switch {
		case err == nil:
			err = r.Add(raw)
		case x.body.done:
			r.Done()
		}
		switch r.Progress() {
		case Finished:
			x.idle.settle(settleTime)
		case Complete:
			x.body.drain()
			return r.Answer()
		}
		switch {
		case err == nil:
		case IsReported(err), errors.As(err, new(*oversizedError)):
			return core.Answer{}, err
		case r.Progress() == Finished:
			return r.Answer()
		default:
			return core.Answer{}, &cutError{x.body.why(idleCause(ctx, err))}
		}
	}
}

// typed converts an error that precedes the answer to a type of this package.
func typed(err error) error {
	if f := failure(nil); errors.As(err, &f) {
		return err
	}
	return &requestError{err}
}
