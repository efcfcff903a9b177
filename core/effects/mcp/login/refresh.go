package login

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"appserver/core/effects/mcp/credentials"
)

const (
	// leeway is how long before its end an access token is refreshed.
	leeway = 30 * time.Second
	// recallTime is how long a login is used before the store is read again, where another process may have removed it.
	recallTime = 10 * time.Second
	// refreshTime bounds a refresh, with the wait for the lock.
	refreshTime = 90 * time.Second
)

// token returns the access token for a server, or "" if there is no login. A token that the server has rejected is
// stale, and another one is returned.
func (l *Logins) token(ctx context.Context, s Server, stale string) (string, error) {
	if known := l.recall(s); known != nil && l.isFresh(s, known, stale) {
		return known.AccessToken, nil
	}
	stored, err := l.load(s)
	switch {
	case err != nil:
		return "", err
	case stored == nil:
		return "", nil
	case l.isFresh(s, stored, stale):
		return stored.AccessToken, nil
	case !isOurs(s, stored) || stored.RefreshToken == "":
		return l.unrefreshed(s, stored, stale)
	}
	// A refresh that began is not cancelled: the authorization server may have replaced the refresh token.
	type result struct {
		token string
		err   error
	}
	done := make(chan result, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTime)
		defer cancel()
		token, err := l.refreshLocked(ctx, s, stale)
		done <- result{token, err}
	}()
	select {
	case r := <-done:
		return r.token, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// isFresh reports whether a login has an access token that can be used now.
func (l *Logins) isFresh(s Server, login *credentials.Login, stale string) bool {
	return isOurs(s, login) && login.AccessToken != "" && login.AccessToken != stale &&
		(login.Expires.IsZero() || l.Now().Add(leeway).Before(login.Expires))
}

// isOurs reports whether a login is of the configured client.
func isOurs(s Server, login *credentials.Login) bool {
	return s.ClientID == "" || s.ClientID == login.ClientID
}

// unrefreshed returns the access token of a login that cannot be refreshed, until its end.
func (l *Logins) unrefreshed(s Server, login *credentials.Login, stale string) (string, error) {
	if isOurs(s, login) && login.AccessToken != "" && login.AccessToken != stale && l.Now().Before(login.Expires) {
		return login.AccessToken, nil
	}
	return "", &RequiredError{Server: s.Name, Again: true}
}

// refreshLocked refreshes the login, unless another process has done so meanwhile.
func (l *Logins) refreshLocked(ctx context.Context, s Server, stale string) (string, error) {
	lock, err := l.Store.Lock(ctx, s.Name, s.URL)
	if err != nil {
		return "", fmt.Errorf("the login at the MCP server `%s` cannot be refreshed: %w", s.Name, err)
	}
	defer lock.Close()
	stored, err := l.load(s)
	switch {
	case err != nil:
		return "", err
	case stored == nil:
		return "", &RequiredError{Server: s.Name, Again: true}
	case l.isFresh(s, stored, stale):
		return stored.AccessToken, nil
	case !isOurs(s, stored) || stored.RefreshToken == "":
		return l.unrefreshed(s, stored, stale)
	}
	code, err := l.refresh(ctx, s, stored)
	switch {
	case err == nil:
		return stored.AccessToken, nil
	case code == "invalid_grant", code == "invalid_client" && s.ClientID == "":
		return "", l.invalidate(s, stored)
	case stored.AccessToken != stale && l.Now().Before(stored.Expires):
		return stored.AccessToken, nil // it is valid for a moment, and the next request tries again
	}
	return "", fmt.Errorf("the login at the MCP server `%s` cannot be refreshed: %w", s.Name, err)
}

// refresh replaces the tokens of a login, and stores them before they are used. If they cannot be stored, the next
// refresh stores them, because the authorization server may have ended the former ones.
func (l *Logins) refresh(ctx context.Context, s Server, login *credentials.Login) (code string, err error) {
	next := l.takeUnstored(login)
	if next == nil {
		if next, code, err = l.renew(ctx, s, login); err != nil {
			return code, err
		}
	}
	if err := l.Store.Save(next); err != nil {
		l.mu.Lock()
		l.unstored[credentials.Key(next.Server, next.URL)] = unstored{login.RefreshToken, next}
		l.mu.Unlock()
		return "", fmt.Errorf("the new tokens cannot be stored: %w", err)
	}
	*login = *next
	l.remember(login)
	return "", nil
}

// unstored is a refreshed login that could not be stored. of is the refresh token that was used for it.
type unstored struct {
	of    string
	login *credentials.Login
}

// takeUnstored returns the refreshed form of a stored login that could not be stored, or nil.
func (l *Logins) takeUnstored(stored *credentials.Login) *credentials.Login {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := credentials.Key(stored.Server, stored.URL)
	u := l.unstored[key]
	delete(l.unstored, key)
	if u.login == nil || u.of != stored.RefreshToken {
		return nil
	}
	return u.login
}

// renew returns a login with the tokens of the authorization server in place of those of a login.
func (l *Logins) renew(ctx context.Context, s Server, login *credentials.Login) (
	next *credentials.Login, code string, err error) {
	d, err := l.rediscover(ctx, s, login)
	if err != nil {
		return nil, "", err
	}
	c := client{id: login.ClientID, secret: login.ClientSecret}
	if s.ClientID != "" {
		c.secret = s.ClientSecret
	}
	token, err := d.request(ctx, d.config(c), "", oauth2.SetAuthURLParam("grant_type", "refresh_token"),
		oauth2.SetAuthURLParam("refresh_token", login.RefreshToken), oauth2.SetAuthURLParam("resource", d.resource))
	if err != nil {
		code, err = explain(err)
		return nil, code, err
	}
	next = new(*login)
	update(next, token)
	return next, "", nil
}

// rediscover returns the authorization server that issued the tokens. The MCP server cannot name another one.
func (l *Logins) rediscover(ctx context.Context, s Server, login *credentials.Login) (*discovery, error) {
	d, err := l.discover(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case login.Issuer != "" && strings.TrimSuffix(login.Issuer, "/") != strings.TrimSuffix(d.issuer.Issuer, "/"):
		return nil, fmt.Errorf("the server names the authorization server %s now, but %s issued the login: log in again",
			clean(d.issuer.Issuer), clean(login.Issuer))
	}
	if s.Resource != "" {
		d.resource = s.Resource
	}
	return d, nil
}

// invalidate removes the tokens of a login that the authorization server has rejected. The entry remains, so that a
// client learns that there was a login.
func (l *Logins) invalidate(s Server, login *credentials.Login) error {
	login.AccessToken, login.RefreshToken = "", ""
	if err := l.Store.Save(login); err != nil {
		return fmt.Errorf("the tokens for the MCP server `%s` are not valid, and cannot be removed: %w", s.Name, err)
	}
	l.remember(login)
	return &RequiredError{Server: s.Name, Again: true}
}

// update copies the response of a token endpoint. A response without a refresh token or scopes keeps those before.
func update(login *credentials.Login, token *oauth2.Token) {
	login.AccessToken, login.Expires = token.AccessToken, token.Expiry
	if token.RefreshToken != "" {
		login.RefreshToken = token.RefreshToken
	}
	if scope, ok := token.Extra("scope").(string); ok && scope != "" {
		login.Scopes = strings.Fields(scope)
	}
}

// load reads a login from the store.
func (l *Logins) load(s Server) (*credentials.Login, error) {
	login, err := l.Store.Load(s.Name, s.URL)
	if err != nil {
		return nil, fmt.Errorf("the login at the MCP server `%s` cannot be read: %w", s.Name, err)
	}
	if login != nil {
		l.remember(login)
	}
	return login, nil
}

// recall returns the login at a server if it was read a moment ago, or nil.
func (l *Logins) recall(s Server) *credentials.Login {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.known[s.key()]; l.Now().Sub(k.at) < recallTime {
		return k.login
	}
	return nil
}

// remember keeps a copy of a login.
func (l *Logins) remember(login *credentials.Login) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[credentials.Key(login.Server, login.URL)] = knownLogin{new(*login), l.Now()}
}
