package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// refreshTime bounds a refresh: the wait for other processes, the request, and the change of the file.
const refreshTime = 90 * time.Second

// The reasons for refreshes, which the issuer gets.
const (
	reasonExpiry       = "proactive_expiry"
	reasonForced       = "forced"
	reasonUnauthorized = "unauthorized_recovery"
)

// refresh is a refresh under way, or a question to the client that gives tokens. The members are set before done is
// closed.
type refresh struct {
	of    *Login
	done  chan struct{}
	login *Login
	err   error
}

// Refresh refreshes the tokens of a ChatGPT account. It does nothing for other logins.
func (a *Account) Refresh(ctx context.Context) error {
	l, err := a.Current()
	if err != nil || l == nil || l.Mode != ChatGPT {
		return err
	}
	_, err = a.renew(ctx, l, reasonForced)
	return err
}

// renew returns a login with other tokens than those of l.
func (a *Account) renew(ctx context.Context, l *Login, reason string) (*Login, error) {
	a.mu.Lock()
	err := a.refused[l.Tokens.Refresh]
	a.mu.Unlock()
	if err != nil {
		return a.storedInstead(l, err)
	}
	return a.share(ctx, l, func(ctx context.Context) (*Login, error) { return a.renewLocked(ctx, l, reason) })
}

// share returns the login in place of l, by a call of do. Callers with the same login share the call, which continues
// if they are cancelled.
func (a *Account) share(ctx context.Context, l *Login, do func(context.Context) (*Login, error)) (*Login, error) {
	a.mu.Lock()
	r := a.refreshing
	if r == nil || !r.of.isSame(l) {
		r = &refresh{of: l, done: make(chan struct{})}
		a.refreshing = r
		go a.run(context.WithoutCancel(ctx), r, do)
	}
	a.mu.Unlock()
	select {
	case <-r.done:
		return r.login, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// run sets the result of a refresh.
func (a *Account) run(ctx context.Context, r *refresh, do func(context.Context) (*Login, error)) {
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	r.login, r.err = do(ctx)
	a.mu.Lock()
	if a.refreshing == r {
		a.refreshing = nil
	}
	a.mu.Unlock()
	close(r.done)
}

// renewLocked refreshes the tokens, unless another process has done so meanwhile.
func (a *Account) renewLocked(ctx context.Context, l *Login, reason string) (*Login, error) {
	unlock, err := a.Store.Lock(ctx, refreshLock)
	if err != nil {
		return nil, fmt.Errorf("the tokens of the account cannot be refreshed: %w", err)
	}
	defer unlock()
	switch stored, err := a.Current(); {
	case err != nil:
		return nil, err
	case !l.isOfSameUser(stored):
		return nil, errOther()
	case !stored.isSame(l) && !stored.isStale(a.Now()):
		return stored, nil
	case !stored.isSame(l):
		l = stored
	}
	if t, ok := a.takeUnstored(l); ok {
		return a.commit(ctx, l, t)
	}
	if l.Tokens.Refresh == "" {
		return nil, signIn("the access token of the account has ended, and the login has no refresh token")
	}
	t, err := a.requestTokens(ctx, l, reason)
	if final := new(SignInError); errors.As(err, &final) {
		return a.refuse(ctx, l, err)
	}
	if err != nil {
		return nil, fmt.Errorf("the tokens of the account cannot be refreshed: %w", err)
	}
	return a.commit(ctx, l, t)
}

// errOther returns the error for a login that has changed since a request began.
func errOther() error { return signIn("the user has signed out, or in to another account") }

// requestTokens requests new tokens. The error is a *SignInError if the issuer rejects the refresh token for good.
func (a *Account) requestTokens(ctx context.Context, l *Login, reason string) (t issued, err error) {
	w, err := a.send(ctx, request{method: http.MethodPost, address: a.refreshURL(l.Tokens), document: map[string]string{
		"client_id": issuerOf(l.Tokens).ClientID, "grant_type": "refresh_token", "refresh_reason": reason,
		"refresh_token": l.Tokens.Refresh}})
	if err != nil {
		return t, err
	}
	switch code := w.code(); {
	case code == "refresh_token_expired":
		return t, signIn("the access token cannot be refreshed, because the refresh token has ended")
	case code == "refresh_token_reused":
		return t, signIn("the access token cannot be refreshed, because the refresh token was used before")
	case code == "refresh_token_invalidated":
		return t, signIn("the access token cannot be refreshed, because the refresh token was revoked")
	case w.status == http.StatusUnauthorized, w.status == http.StatusBadRequest && code == "invalid_grant":
		return t, signIn("the access token cannot be refreshed, because the issuer rejects the refresh token")
	}
	t, err = w.tokens("the refresh of the tokens")
	if err == nil && t.Access == "" {
		err = errTokens
	}
	return t, err
}

// commit stores new tokens before they are used. If another program has stored another login meanwhile, that one
// remains, and counts. If the tokens cannot be stored, the next refresh stores them, because the issuer has ended the
// former ones.
func (a *Account) commit(ctx context.Context, l *Login, t issued) (*Login, error) {
	next, err := a.Store.Update(ctx, func(stored *Login) (*Login, error) {
		switch {
		case !l.isOfSameUser(stored):
			return stored, errOther()
		case stored.Tokens.Refresh != l.Tokens.Refresh:
			return stored, nil
		}
		next := *stored
		next.Tokens.Access = t.Access
		next.Tokens.ID = cmp.Or(t.ID, next.Tokens.ID)
		next.Tokens.Refresh = cmp.Or(t.Refresh, next.Tokens.Refresh)
		next.Refreshed = a.Now()
		return &next, nil
	})
	if final := new(SignInError); err != nil && !errors.As(err, &final) {
		a.mu.Lock()
		a.unstored = &unstored{l.Tokens.Refresh, t}
		a.mu.Unlock()
	}
	return next, err
}

// unstored are tokens that could not be stored. of is the refresh token that was used for them.
type unstored struct {
	of     string
	tokens issued
}

// takeUnstored returns the tokens that a refresh of the login got and could not store.
func (a *Account) takeUnstored(l *Login) (t issued, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unstored == nil || a.unstored.of != l.Tokens.Refresh {
		return t, false
	}
	t, a.unstored = a.unstored.tokens, nil
	return t, true
}

const (
	// otherTime is how long the tokens of another program are awaited that has used the same refresh token.
	otherTime     = 3 * time.Second
	otherInterval = 50 * time.Millisecond
	// maxRefused bounds the refused refresh tokens that are remembered.
	maxRefused = 16
)

// refuse remembers that a refresh token is rejected for good, unless another program has used it and stores what it
// got.
func (a *Account) refuse(ctx context.Context, l *Login, reason error) (*Login, error) {
	for end := time.Now().Add(otherTime); time.Now().Before(end); {
		if stored, err := a.Current(); err != nil || stored == nil || !stored.isSame(l) {
			return a.storedInstead(l, reason)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(otherInterval):
		}
	}
	a.mu.Lock()
	if len(a.refused) >= maxRefused {
		clear(a.refused)
	}
	a.refused[l.Tokens.Refresh] = reason
	a.mu.Unlock()
	return nil, reason
}

// storedInstead returns the stored login if it has other tokens than l.
func (a *Account) storedInstead(l *Login, reason error) (*Login, error) {
	stored, err := a.Current()
	switch {
	case err != nil:
		return nil, err
	case !l.isOfSameUser(stored):
		return nil, errOther()
	case stored.isSame(l):
		return nil, reason
	}
	return stored, nil
}

// IsRefused reports whether the tokens of a login cannot be refreshed, so that the user must sign in.
func (a *Account) IsRefused(l *Login) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return l.Mode == ChatGPT && a.refused[l.Tokens.Refresh] != nil
}
