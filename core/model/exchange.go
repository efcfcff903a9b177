package model

import (
	"bytes"
	"context"
	"encoding/json"
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

// exchange is one request and its answer. As the HTTP client of go-openai it
// corrects the request on its way out. The answer it reads itself: the library's reader takes two
// regular expressions a line, and what providers write in error for the end.
type exchange struct {
	provider  *OpenAI
	overrides map[string]json.RawMessage
	idle      *idle
	body      *eventBody
	optional  []string // the optional members that were sent
}

// requestURL is where an endpoint takes requests.
func requestURL(e Endpoint) (*url.URL, error) {
	u, err := url.Parse(e.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("model provider %q: base_url is not an http or https URL; correct it in config.toml", e.Name)
	}
	u.Path = orElse(u.Path, "/")
	u = u.JoinPath("chat", "completions")
	query := u.Query()
	for name, value := range e.Query {
		query.Set(name, value)
	}
	u.RawQuery = query.Encode()
	return u, nil
}

// Do sends a request of go-openai's. It fails with *connectError where no answer
// came and with *statusError for any status but 2xx; the body of an answer is
// read by collect, not by the library.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	if err := x.amend(req); err != nil {
		return nil, &requestError{err}
	}
	if err := x.idle.await(); err != nil {
		return nil, &connectError{err}
	}
	res, err := x.provider.client.Do(req)
	x.idle.stop()
	if err != nil {
		return nil, &connectError{idleCause(req.Context(), err)}
	}
	reader := &idleReader{src: res.Body, idle: x.idle}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		defer res.Body.Close()
		x.idle.renew(settleTime)
		body, _ := io.ReadAll(io.LimitReader(reader, errorBodyLimit))
		return nil, &statusError{res.StatusCode, res.Header, x.provider.withoutSecrets(body), x.optional}
	}
	x.body = newEventBody(reader, res, x.provider.withoutSecrets)
	return res, nil
}

// amend puts the endpoint's URL and headers on a request, and the members that
// the library cannot express into its body.
func (x *exchange) amend(req *http.Request) error {
	req.URL = x.provider.url
	req.Header.Set("User-Agent", "appserver")
	// Without a value it is not sent, and tells the transport to send the request
	// again when a kept connection turns out to be closed.
	req.Header["Idempotency-Key"] = nil
	for name, value := range x.provider.endpoint.Headers {
		req.Header.Set(name, value)
	}
	var members map[string]json.RawMessage
	if err := json.NewDecoder(req.Body).Decode(&members); err != nil {
		return fmt.Errorf("reading the request that go-openai wrote: %w", err)
	}
	for name, value := range x.overrides {
		members[name] = value
	}
	x.optional = x.provider.refused.filter(members)
	body, err := protocol.Marshal(members)
	if err != nil {
		return fmt.Errorf("writing the request: %w", err)
	}
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
	return nil
}

// collect reads the answer to its end.
func (x *exchange) collect(ctx context.Context, a *assembly) (core.Answer, error) {
	for {
		raw, err := x.body.next()
		if err == nil {
			err = a.add(raw)
		}
		if a.finished() {
			x.idle.settle(settleTime)
		}
		switch {
		case err == nil:
		case isReported(err), errors.As(err, new(*oversizedError)):
			return core.Answer{}, err
		case a.finished() || x.body.done:
			return a.answer()
		default:
			return core.Answer{}, &cutError{x.body.why(idleCause(ctx, err))}
		}
	}
}

// typed gives an error from before the answer one of the types of this package.
func typed(err error) error {
	if f := failure(nil); errors.As(err, &f) {
		return err
	}
	return &requestError{err}
}
