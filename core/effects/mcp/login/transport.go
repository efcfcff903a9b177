package login

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// transport adds the access token of a login to requests to one server.
type transport struct {
	logins *Logins
	server Server
	origin *url.URL
	next   http.RoundTripper
}

// Transport returns a transport that adds the access token of the login at a server to requests to its origin. If the
// server rejects a token, it is refreshed once. Errors are a RequiredError, a ScopeError, or those of next. It never
// begins a login. A server without https gets no token.
func (l *Logins) Transport(s Server, next http.RoundTripper) http.RoundTripper {
	t := &transport{logins: l, server: s, next: next}
	if _, err := l.guardOf(s); err == nil {
		t.origin, _ = url.Parse(s.URL)
	}
	return t
}

// RoundTrip sends a copy of the request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.origin == nil || !sameOrigin(t.origin, r.URL) {
		return t.next.RoundTrip(r)
	}
	token, err := t.logins.token(r.Context(), t.server, "")
	if err != nil {
		closeBody(r)
		return nil, err
	}
	response, err := t.send(r, token)
	if err != nil || response.StatusCode != http.StatusUnauthorized && response.StatusCode != http.StatusForbidden {
		return response, err
	}
	if response.StatusCode == http.StatusForbidden {
		return t.forbidden(response, token)
	}
	_ = response.Body.Close()
	if token == "" {
		return nil, &RequiredError{Server: t.server.Name}
	}
	return t.resend(r, token)
}

func (t *transport) send(r *http.Request, token string) (*http.Response, error) {
	r = r.Clone(r.Context())
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return t.next.RoundTrip(r)
}

// resend sends a request again, with another token than the rejected one.
func (t *transport) resend(r *http.Request, rejected string) (*http.Response, error) {
	token, err := t.logins.token(r.Context(), t.server, rejected)
	switch {
	case err != nil:
		return nil, err
	case token == "" || r.Body != nil && r.GetBody == nil:
		return nil, &RequiredError{Server: t.server.Name, Again: true}
	}
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	response, err := t.send(again, token)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode == http.StatusForbidden:
		return t.forbidden(response, token)
	case response.StatusCode == http.StatusUnauthorized:
		_ = response.Body.Close()
		return nil, &RequiredError{Server: t.server.Name, Again: true}
	}
	return response, nil
}

// forbidden returns an error if the login has too few scopes, and the response otherwise.
func (t *transport) forbidden(response *http.Response, token string) (*http.Response, error) {
	challenges := challengesOf(response)
	lacks := slices.ContainsFunc(challenges, func(c oauthex.Challenge) bool {
		return c.Params["error"] == "insufficient_scope" || c.Params["error"] == "" && c.Params["scope"] != ""
	})
	if !lacks || token == "" {
		return response, nil
	}
	_ = response.Body.Close()
	e := &ScopeError{Server: t.server.Name}
	for _, scope := range strings.Fields(parameter(challenges, "scope")) {
		if isHeaderText(scope) && len(e.Scopes) < 20 {
			e.Scopes = append(e.Scopes, clean(scope))
		}
	}
	return nil, e
}

// closeBody closes the body of a request that is not sent, as the contract of RoundTrip requires.
func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}
