package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"appserver/core/effects/mcp/credentials"
)

const (
	// DefaultTime is the time that a user has for a login, and MaxTime the most that can be set.
	DefaultTime = 5 * time.Minute
	MaxTime     = time.Hour
	// storeTime bounds the requests after the browser has come back.
	storeTime = time.Minute
	// maxAttempts bounds the logins that wait for a browser.
	maxAttempts = 16
)

var (
	errReplaced  = errors.New("the login was replaced by a newer one at the same server")
	errCancelled = errors.New("the login was cancelled")
	errTime      = errors.New("timed out waiting for the browser: start the login again")
)

// Attempt is a login that waits for the user.
type Attempt struct {
	// URL is the address that the user opens. Redirect is the one that the browser returns to.
	URL, Redirect string

	logins    *Logins
	server    Server
	found     *discovery
	client    client
	config    *oauth2.Config
	state     string
	verifier  string
	scopes    []string
	port      *port
	ctx       context.Context
	cancel    context.CancelCauseFunc
	claimed   sync.Once
	done      chan struct{} // closed after err is set
	ended     chan struct{} // closed after the port is closed
	err       error
	finishing sync.Once
}

// Begin starts a login. Scopes override those of the server unless they are nil. The attempt ends after the
// time, or when ctx is done, or when another login at the same server begins.
func (l *Logins) Begin(ctx context.Context, s Server, scopes []string, within time.Duration) (*Attempt, error) {
	if within <= 0 || within > MaxTime {
		within = DefaultTime
	}
	if HasToken(s.Headers) {
		return nil, fmt.Errorf("the MCP server `%s` has a token in its configuration, so no login is used: remove bearer_token_env_var or the header Authorization", s.Name)
	}
	a := &Attempt{logins: l, server: s, state: rand.Text(), verifier: oauth2.GenerateVerifier(), done: make(chan struct{}),
		ended: make(chan struct{})}
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { a.cancel(errCancelled) })
	timer := time.AfterFunc(within, func() { a.cancel(errTime) })
	end := func() {
		stop()
		timer.Stop()
		l.forget(a)
		a.cancel(nil)
		close(a.ended)
	}
	err := l.admit(a)
	if err == nil {
		err = a.prepare(scopes)
	}
	if err != nil {
		end()
		return nil, err
	}
	go func() {
		defer end()
		a.port.serve(a)
		select {
		case <-a.done:
		case <-a.ctx.Done():
			a.finish(context.Cause(a.ctx))
		}
		a.port.Close()
	}()
	return a, nil
}

// admit registers an attempt, in place of another one at the same server.
func (l *Logins) admit(a *Attempt) error {
	l.mu.Lock()
	old := l.attempts[a.server.key()]
	if old == nil && len(l.attempts) >= maxAttempts {
		l.mu.Unlock()
		return fmt.Errorf("%d logins wait for a browser already: finish them first", maxAttempts)
	}
	l.attempts[a.server.key()] = a
	l.mu.Unlock()
	if old != nil {
		old.cancel(errReplaced)
		<-old.ended // the port may be the same
	}
	return nil
}

func (l *Logins) forget(a *Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.attempts[a.server.key()] == a {
		delete(l.attempts, a.server.key())
	}
}

// prepare finds the authorization server, opens the port, and makes the address.
func (a *Attempt) prepare(scopes []string) (err error) {
	defer func() {
		if cause := context.Cause(a.ctx); err != nil && cause != nil {
			err = cause
		}
	}()
	if a.found, err = a.logins.discover(a.ctx, a.server); err != nil {
		return err
	}
	if a.port, err = listen(a.server, a.found.issuer.NamesIssuer); err != nil {
		return err
	}
	a.Redirect = a.port.redirect
	a.scopes = a.found.requested(a.server, scopes)
	if a.client, err = a.found.clientFor(a.ctx, a.server, a.Redirect, a.scopes); err != nil {
		a.port.Close()
		return err
	}
	if a.server.Resource != "" {
		a.found.resource = a.server.Resource
	}
	a.config = a.found.config(a.client)
	a.config.RedirectURL, a.config.Scopes = a.Redirect, a.scopes
	a.URL = a.config.AuthCodeURL(a.state, oauth2.S256ChallengeOption(a.verifier),
		oauth2.SetAuthURLParam("resource", a.found.resource))
	return nil
}

// requested returns the scopes to request: given ones, configured ones, or those that the server asks for.
func (d *discovery) requested(s Server, given []string) []string {
	scopes := d.scopes
	if given != nil {
		scopes = given
	} else if s.Scopes != nil {
		scopes = s.Scopes
	}
	const offline = "offline_access" // a refresh token needs it at some servers
	if given == nil && slices.Contains(d.issuer.Scopes, offline) && !slices.Contains(scopes, offline) {
		scopes = append(slices.Clone(scopes), offline)
	}
	return scopes
}

// Wait returns when the login is stored or has failed, and the browser has its page.
func (a *Attempt) Wait() error {
	<-a.ended
	return a.err
}

// Cancel ends the attempt.
func (a *Attempt) Cancel() { a.cancel(errCancelled) }

// finish ends the attempt with a result, once.
func (a *Attempt) finish(err error) {
	a.finishing.Do(func() {
		a.err = err
		close(a.done)
	})
}

// errNotOurs means that a callback does not belong to the attempt, so that the attempt continues.
var errNotOurs = errors.New("the address does not belong to this login")

// Accept processes the address to which the browser was redirected, and stores the login. An address
// of another login is rejected, and the attempt continues.
func (a *Attempt) Accept(address string) error {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return errNotOurs
	}
	return a.accept(u.Query())
}

func (a *Attempt) accept(q url.Values) error {
	for _, values := range q {
		if len(values) > 1 {
			return errNotOurs
		}
	}
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(a.state)) != 1 {
		return errNotOurs
	}
	first := false
	a.claimed.Do(func() { first = true })
	if !first {
		return errNotOurs
	}
	err := a.answered(q)
	a.finish(err)
	return err
}

// answered checks the response of the authorization server, and exchanges its code.
func (a *Attempt) answered(q url.Values) error {
	issuer := &a.found.issuer
	switch named := q.Get("iss"); {
	case named == "" && issuer.NamesIssuer:
		return fmt.Errorf("the response of the authorization server %s does not name it, so it is not used", clean(issuer.Issuer))
	case named != "" && named != issuer.Issuer:
		return fmt.Errorf("the response is of the authorization server %s, not of %s, so it is not used", clean(named), clean(issuer.Issuer))
	}
	switch code := q.Get("code"); {
	case q.Has("error"):
		return refused(q.Get("error"), q.Get("error_description"))
	case code == "":
		return errors.New("the response of the authorization server has no code")
	default:
		return a.exchange(code)
	}
}

func (a *Attempt) exchange(code string) error {
	ctx, cancel := context.WithTimeout(a.ctx, storeTime)
	defer cancel()
	token, err := a.found.request(ctx, a.config, code, oauth2.VerifierOption(a.verifier),
		oauth2.SetAuthURLParam("resource", a.found.resource))
	if err != nil {
		_, err = explain(err)
		return err
	}
	login := &credentials.Login{Server: a.server.Name, URL: a.server.URL, Issuer: a.found.issuer.Issuer,
		ClientID: a.client.id}
	if a.client.registered {
		login.ClientSecret = a.client.secret
	}
	login.Scopes = a.scopes
	update(login, token)
	lock, err := a.logins.Store.Lock(ctx, a.server.Name, a.server.URL)
	if err != nil {
		return fmt.Errorf("the login cannot be stored: %w", err)
	}
	defer lock.Close()
	if err := a.logins.Store.Add(login); err != nil {
		return fmt.Errorf("the login cannot be stored: %w", err)
	}
	a.logins.remember(login)
	return nil
}
