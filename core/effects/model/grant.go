package model

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"appserver/core"
	"appserver/protocol"
)

// Account authorizes requests to an endpoint by a login, which can change at any time.
type Account interface {
	// Authorize returns a grant for a request, or nil if there is no login. If the endpoint has rejected a grant,
	// Authorize returns another one, or the same one if no other can be had. The error is a [SignIn] if the user must act.
	Authorize(ctx context.Context, rejected *Grant) (*Grant, error)
	// Report takes the headers of each response. It must not block.
	Report(h http.Header)
}

// SignIn is an error that ends only when the user signs in.
type SignIn interface {
	error
	// NeedsUser reports that another request fails in the same way.
	NeedsUser() bool
}

// Grant authorizes a request.
type Grant struct {
	// BaseURL replaces that of the endpoint.
	BaseURL string
	// Headers replace those of the endpoint. Secrets are removed from errors.
	Headers map[string]string
	Secrets []string
	// IsKey is set if the user gave the key for this endpoint. Its requests are those of any endpoint with a key, without
	// what a login at the vendor adds.
	IsKey bool
	// Of is for the Account.
	Of any
}

// ofLogin reports whether a login at the vendor authorizes the request.
func (t *target) ofLogin() bool { return t.grant != nil && !t.grant.IsKey }

// maxGrants bounds the grants for one request: the first one, one that another process has stored, and a refreshed one.
const maxGrants = 3

// accountError is a request that no login authorizes.
type accountError struct{ error }

func (e *accountError) modelError(from source) *core.ModelError {
	m := &core.ModelError{Message: from.name + ": " + e.Error(), Info: protocol.CodexErrorInfo{Kind: protocol.ErrorOther}}
	var final SignIn
	if errors.As(e.error, &final) && final.NeedsUser() {
		m.Info.Kind = protocol.ErrorUnauthorized
	} else {
		m.Retry = true
	}
	return m
}

// target is where a request goes, and what authorizes it.
type target struct {
	endpoint Endpoint
	url      *url.URL
	grant    *Grant // nil without a login
}

// target returns the target of the next request to a path. The login authorizes it if there is one.
func (c *Client) target(ctx context.Context, rejected *Grant, path ...string) (*target, error) {
	t := &target{endpoint: c.endpoint}
	if c.endpoint.Account != nil {
		grant, err := c.endpoint.Account.Authorize(ctx, rejected)
		if err != nil {
			return nil, &accountError{err}
		}
		t.apply(grant)
		c.remember(grant)
	}
	var err error
	if t.url, err = requestURL(t.endpoint, path...); err != nil {
		return nil, &requestError{err}
	}
	c.granted.Lock()
	c.granted.url = t.url
	c.granted.Unlock()
	return t, nil
}

// report passes on the headers of a response.
func (c *Client) report(h http.Header) {
	if c.endpoint.Account != nil {
		c.endpoint.Account.Report(h)
	}
}

// latest returns the URL of the latest request, or the one of the endpoint.
func (c *Client) latest() *url.URL {
	c.granted.Lock()
	defer c.granted.Unlock()
	if c.granted.url != nil {
		return c.granted.url
	}
	return c.url
}

// apply replaces what a grant replaces.
func (t *target) apply(grant *Grant) {
	if grant == nil {
		return
	}
	t.grant, t.endpoint.BaseURL, t.endpoint.APIKey = grant, grant.BaseURL, ""
	headers := map[string]string{}
	for _, more := range []map[string]string{t.endpoint.Headers, grant.Headers} {
		for name, value := range more {
			headers[http.CanonicalHeaderKey(name)] = value
		}
	}
	t.endpoint.Headers = headers
}

// next returns the target after one that the endpoint has rejected, or nil if no other grant can be had.
func (c *Client) next(ctx context.Context, t *target, path ...string) (*target, error) {
	if t.grant == nil {
		return nil, nil
	}
	next, err := c.target(ctx, t.grant, path...)
	if err == nil && (next.grant == nil || next.grant == t.grant) {
		return nil, nil
	}
	return next, err
}

// isUnauthorized reports whether an endpoint rejects the credentials of a request.
func isUnauthorized(err error) bool {
	var answer *statusError
	return errors.As(err, &answer) && answer.status == http.StatusUnauthorized
}

// maxSecrets bounds the secrets of grants that are removed from errors.
const maxSecrets = 32

// remember adds the secrets of a grant to those that are removed from errors.
func (c *Client) remember(grant *Grant) {
	if grant == nil {
		return
	}
	c.granted.Lock()
	defer c.granted.Unlock()
	for _, secret := range grant.Secrets {
		if len(secret) >= minSecret && !slices.Contains(c.granted.secrets, secret) {
			c.granted.secrets = append(c.granted.secrets, secret)
		}
	}
	c.granted.secrets = c.granted.secrets[max(0, len(c.granted.secrets)-maxSecrets):]
}

// redacted returns a text without the secrets of the endpoint and of the login.
func (c *Client) redacted(text string) string {
	text = c.redact.Replace(text)
	c.granted.Lock()
	defer c.granted.Unlock()
	for _, secret := range c.granted.secrets {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}
