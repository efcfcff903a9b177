package model

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"appserver/core"

	openai "github.com/sashabaranov/go-openai"
)

// defaultIdleTimeout is used where an Endpoint sets none.
const defaultIdleTimeout = 5 * time.Minute

// Endpoint describes a Chat Completions endpoint.
type Endpoint struct {
	// Name is the provider's, for messages.
	Name string
	// BaseURL is what "/chat/completions" is appended to. Its query is kept.
	BaseURL string
	// APIKey is sent as a bearer token; "" sends none.
	APIKey string
	// Query and Headers are added to every request.
	Query, Headers map[string]string
	// IdleTimeout is how long a request may show no life; 0 means
	// five minutes.
	IdleTimeout time.Duration
	// Transport replaces the HTTP transport; nil means one of the provider's own,
	// which honours the proxy variables of the environment.
	Transport http.RoundTripper
}

// OpenAI is a provider that speaks Chat Completions. It is safe for concurrent use.
type OpenAI struct {
	endpoint Endpoint
	url      *url.URL
	urlErr   error
	client   *http.Client
	refused  refusedMembers
	dialects dialects
	redact   *strings.Replacer
	shown    string // the URL as messages may show it
}

// NewOpenAI makes a provider of an endpoint. An endpoint that cannot be used makes
// every Stream fail with a message that says why.
func NewOpenAI(e Endpoint) *OpenAI {
	e.APIKey = strings.TrimSpace(e.APIKey)
	if e.IdleTimeout <= 0 {
		e.IdleTimeout = defaultIdleTimeout
	}
	if e.Transport == nil {
		e.Transport = newTransport()
	}
	o := &OpenAI{endpoint: e, client: &http.Client{Transport: e.Transport, CheckRedirect: stayAtHome}, redact: redactor(e)}
	if o.url, o.urlErr = requestURL(e); o.urlErr == nil {
		o.shown = shownURL(o.url)
	}
	return o
}

// maxRedirects is how often a request is sent on.
const maxRedirects = 10

// stayAtHome follows redirects within the provider's host alone: the headers of the
// configuration hold keys, which http.Client would send along to any.
func stayAtHome(req *http.Request, via []*http.Request) error {
	if first := via[0].URL; len(via) >= maxRedirects || req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// newTransport is the default transport with a quicker end for connections that
// cannot be made or are dead, and without the limit of two idle connections.
func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     90 * time.Second,
	}
}

func (o *OpenAI) withoutSecrets(b []byte) []byte { return []byte(o.redact.Replace(string(b))) }

// Close closes idle connections. Requests under way go on.
func (o *OpenAI) Close() { o.client.CloseIdleConnections() }

// Stream asks the endpoint; see the package's contract.
func (o *OpenAI) Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error) {
	begun := false
	note := func(piece core.Piece) {
		begun = true
		emit(piece)
	}
	for {
		answer, err := o.attempt(ctx, p, note)
		switch {
		case err == nil:
			return answer, nil
		case ctx.Err() != nil:
			return core.Answer{}, context.Cause(ctx)
		case begun:
		case o.refused.learn(err), o.dialects.learn(p, err):
			continue
		}
		return core.Answer{}, o.modelError(err)
	}
}

// attempt sends the prompt once. Its errors are those that modelError knows.
func (o *OpenAI) attempt(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error) {
	if o.urlErr != nil {
		return core.Answer{}, &requestError{o.urlErr}
	}
	messages := ChatMessages(p)
	o.dialects.of(p.Model).speak(messages)
	overrides, err := overrides(p, messages)
	if err != nil {
		return core.Answer{}, &requestError{err}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x := &exchange{provider: o, overrides: overrides, idle: newIdle(o.endpoint.IdleTimeout, cancel)}
	defer x.idle.stop()

	stream, err := o.library(x).CreateChatCompletionStream(ctx, request(p))
	if err != nil {
		return core.Answer{}, typed(err)
	}
	defer stream.Close()
	return x.collect(ctx, newAssembly(p, emit))
}

// library is a client that posts through x.
func (o *OpenAI) library(x *exchange) *openai.Client {
	config := openai.DefaultConfig(o.endpoint.APIKey)
	config.BaseURL = o.url.String()
	config.HTTPClient = x
	return openai.NewClientWithConfig(config)
}
