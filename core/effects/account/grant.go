package account

import (
	"context"
)

// Grant authorizes a request.
type Grant struct {
	// BaseURL is the address that the request goes below.
	BaseURL string
	// Headers authorize the request. Secrets are the keys and tokens in them, and others of the login.
	Headers map[string]string
	Secrets []string

	login *Login
}

// Authorize returns a grant for a request, or nil if the user is signed out. Base returns the address for a mode, which
// must be a host that gets credentials. If the provider has rejected a grant, Authorize returns another one, after a
// refresh if necessary, or the same one if no other can be had.
func (a *Account) Authorize(ctx context.Context, base func(mode string) string, rejected *Grant) (*Grant, error) {
	l, err := a.Current()
	switch {
	case err != nil || l == nil:
		return nil, err
	case rejected == nil:
		l, err = a.fresh(ctx, l)
	case l.isSame(rejected.login):
		if l.Mode == APIKey {
			return rejected, nil
		}
		l, err = a.other(ctx, l)
	}
	if err != nil {
		return nil, err
	}
	return a.grant(l, base(l.Mode))
}

// fresh returns a login whose access token has not ended. A refresh that fails is no error while the token can be used.
func (a *Account) fresh(ctx context.Context, l *Login) (*Login, error) {
	if !l.isStale(a.Now()) {
		return l, nil
	}
	next, err := a.renew(ctx, l, reasonExpiry)
	if err != nil && ctx.Err() == nil && !l.isOver(a.Now()) {
		return l, nil
	}
	return next, err
}

// other returns a login with other tokens than rejected ones.
func (a *Account) other(ctx context.Context, rejected *Login) (*Login, error) {
	if rejected.Mode == ClientTokens {
		return a.share(ctx, rejected, func(ctx context.Context) (*Login, error) { return a.askClient(ctx, rejected) })
	}
	return a.renew(ctx, rejected, reasonUnauthorized)
}

func (a *Account) grant(l *Login, base string) (*Grant, error) {
	if _, err := a.permit(base); err != nil {
		return nil, err
	}
	g := &Grant{BaseURL: base, Headers: map[string]string{"Authorization": "Bearer " + l.Secret()}, Secrets: l.Secrets(),
		login: l}
	if l.Mode != APIKey {
		if l.Tokens.AccountID != "" {
			g.Headers["Chatgpt-Account-Id"] = l.Tokens.AccountID
		}
		if readClaims(l.Tokens.ID).fedramp {
			g.Headers["X-Openai-Fedramp"] = "true"
		}
	}
	return g, nil
}

// Backend returns the address of requests of ChatGPT accounts to models.
func Backend(mode, otherwise string) string {
	if mode == APIKey {
		return otherwise
	}
	return defaultBackend + "/codex"
}
