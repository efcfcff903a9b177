package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"appserver/core"
	"appserver/core/effects/model/refusal"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// defaultIdleTimeout is used where an Endpoint sets none.
const defaultIdleTimeout = 5 * time.Minute

// defaultPromptTimeout is how long local providers may read a prompt, unless an Endpoint sets another limit.
const defaultPromptTimeout = 30 * time.Minute

// Endpoint describes where models are served.
type Endpoint struct {
	// Name is the provider's, for messages.
	Name string
	// BaseURL precedes the path of a Wire. Its query is kept.
	BaseURL string
	// APIKey is sent as a bearer token; "" sends none.
	APIKey string
	// Query and Headers are added to every request.
	Query, Headers map[string]string
	// Extra is added to every request for an answer, and ModelExtra to those for a model.
	Extra      Extra
	ModelExtra map[string]Extra
	// IdleTimeout is how long a request may show no life; 0 means
	// five minutes.
	IdleTimeout time.Duration
	// NotFound is advice for an endpoint that does not have the API. It is added to the message of status
	// 404 and 405, unless it is "".
	NotFound string
	// Window takes the context window that an error states for a model, in tokens; nil drops it. It must not block.
	Window func(model string, tokens int64)
	// Learned takes a notice of each change of requests that a refusal caused; nil drops them. It must not block.
	Learned func(notice string)
	// Identity names the client of requests; nil names this program.
	Identity *Identity
	// Account authorizes requests by a login; nil authorizes none. Without a login the APIKey counts.
	Account Account
	// Rejected returns advice for the user whose key or login the endpoint rejects; nil is that about a login.
	Rejected func() string
	// Transport sends the requests; nil means http.DefaultTransport. Client.Close closes its idle connections.
	Transport http.RoundTripper
	// Problem is the reason why no request can be made, or nil.
	Problem error
}

// Extend adds the members of the endpoint, and then those for a model, to a request. An object is merged with the one
// that is there. limit names the member for the limit of output tokens.
func (e *Endpoint) Extend(members map[string]json.RawMessage, model, limit string) {
	own, known := e.ModelExtra[model]
	for name, extra := range e.ModelExtra {
		if m := (core.ListedModel{ID: name}); !known && m.Named(model) {
			own = extra
		}
	}
	maxOutput := e.Extra.MaxOutput
	if own.MaxOutput > 0 {
		maxOutput = own.MaxOutput
	}
	if maxOutput > 0 {
		members[limit] = strconv.AppendInt(nil, maxOutput, 10)
	}
	for _, extra := range []string{e.Extra.Members, own.Members} {
		var added map[string]json.RawMessage
		if extra != "" && protocol.Unmarshal([]byte(extra), &added) == nil {
			mergeMembers(members, added)
		}
	}
}

// Client is a provider: an endpoint, and the API that it is asked by. It is safe for concurrent
// use.
type Client struct {
	endpoint Endpoint
	wire     Wire
	url      *url.URL
	urlErr   error
	client   *http.Client
	redact   *strings.Replacer
	made     atomic.Int32 // the software of the endpoint
	granted  granted
}

// granted has facts of the latest grants.
type granted struct {
	sync.Mutex
	// secrets are removed from errors. url is that of the latest request, or nil.
	secrets []string
	url     *url.URL
}

// NewClient returns the provider of an endpoint. If the endpoint is not usable, every Stream fails
// with the reason.
func NewClient(e Endpoint, w Wire) *Client {
	c := newClient(e, w.Path()...)
	c.wire = w
	return c
}

// newClient returns a client for requests to one path below the endpoint.
func newClient(e Endpoint, path ...string) *Client {
	e.APIKey = strings.TrimSpace(e.APIKey)
	if e.IdleTimeout <= 0 {
		e.IdleTimeout = defaultIdleTimeout
	}
	c := &Client{endpoint: e, client: &http.Client{Transport: e.Transport, CheckRedirect: stayAtHome}, redact: redactor(e)}
	c.url, c.urlErr = requestURL(e, path...)
	if e.Problem != nil {
		c.urlErr = e.Problem
	}
	return c
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

func (c *Client) withoutSecrets(b []byte) []byte { return []byte(c.redacted(string(b))) }

// Close closes idle connections. It does not affect pending requests.
func (c *Client) Close() { c.client.CloseIdleConnections() }

// Render returns the messages and the tools of the request for p.
func (c *Client) Render(p *core.Prompt) (core.RenderedPrompt, error) {
	return c.wire.Render(p)
}

// Stream sends a request to the endpoint. The package documentation has the contract.
func (c *Client) Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error) {
	begun := false
	forward := func(piece core.Piece) {
		begun = begun || piece.Kind != core.PieceProgress
		emit(piece)
	}
	for learned := 0; ; learned++ {
		demands := c.wire.Demands(p.Model)
		answer, err := c.attempt(ctx, p, forward)
		switch {
		case err == nil:
			return answer, nil
		case ctx.Err() != nil:
			return core.Answer{}, context.Cause(ctx)
		case begun && errors.As(err, new(*repeatableError)): // the caller sends the request again
			c.learn(p, demands, err, emit)
			return core.Answer{}, c.modelError(err)
		case begun || learned == maxLearned || !c.learn(p, demands, err, emit):
			failed := c.modelError(err)
			if failed.Window > 0 && c.endpoint.Window != nil {
				c.endpoint.Window(p.Model, failed.Window)
			}
			return core.Answer{}, failed
		}
	}
}

// maxLearned bounds the refused requests for a prompt that are sent again in another form.
const maxLearned = 16

// learn reports whether the next request for the prompt obeys what a refusal demands, and tells the caller. If another
// request has changed the demands meanwhile, it learns nothing: the places that the refusal names are those of the
// former request.
func (c *Client) learn(p *core.Prompt, obeyed *refusal.Demands, err error, emit func(core.Piece)) bool {
	r := refusalOf(err)
	if r == nil || r.OfEncrypted() && refusal.SendsEncrypted(p) {
		return false
	}
	if c.wire.Demands(p.Model) != obeyed {
		return true
	}
	change := c.wire.Learn(p, r)
	if change.Notice == "" {
		return false
	}
	reason := excerpt.FirstRunes(excerpt.Line(c.redacted(r.Text)), 200)
	notice := fmt.Sprintf("%s Model %s, provider %s: %s", change.Notice, p.Model, c.endpoint.Name, reason)
	if !change.Quiet {
		emit(core.Piece{Kind: core.PieceNotice, Text: notice})
	}
	if c.endpoint.Learned != nil {
		c.endpoint.Learned(notice)
	}
	return true
}

// attempt sends the prompt. If the endpoint rejects the login, attempt sends the prompt with other credentials.
// modelError converts its errors.
func (c *Client) attempt(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error) {
	if c.urlErr != nil {
		return core.Answer{}, &requestError{c.urlErr}
	}
	t, err := c.target(ctx, nil, c.wire.Path()...)
	for tries := 1; err == nil; tries++ {
		answer, failed := c.attemptAt(ctx, t, p, emit)
		if tries == maxGrants || !isUnauthorized(failed) {
			return answer, failed
		}
		var next *target
		if next, err = c.next(ctx, t, c.wire.Path()...); err == nil && next == nil {
			return answer, failed
		}
		t = next
	}
	return core.Answer{}, err
}

// attemptAt sends the prompt once.
func (c *Client) attemptAt(ctx context.Context, t *target, p *core.Prompt, emit func(core.Piece)) (core.Answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x := &exchange{provider: c, target: t, idle: newIdle(c.endpoint.IdleTimeout, cancel),
		pieces: &joiner{emit: emit}, thread: p.ThreadID, session: p.SessionID}
	if c.IsLocal() {
		x.idle.awaitPrompt(c.promptTimeout())
	}
	defer x.close()
	if err := c.wire.Send(ctx, x, p); err != nil {
		return core.Answer{}, typed(err)
	}
	return x.collect(ctx, c.wire.Read(p, x.add))
}

// promptTimeout returns the time that a local provider may be silent before the first piece of its
// answer. Ollama and others send nothing while they read a long prompt.
func (c *Client) promptTimeout() time.Duration {
	if c.endpoint.IdleTimeout == defaultIdleTimeout {
		return defaultPromptTimeout
	}
	return c.endpoint.IdleTimeout
}
