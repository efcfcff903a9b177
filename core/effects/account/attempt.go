package account

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"appserver/platform/callback"
)

const (
	// browserTime is the time that a user has for a login in the browser.
	browserTime = 10 * time.Minute
	// storeTime bounds the requests after the browser has come back.
	storeTime = time.Minute
	// callbackPath is registered at the vendor with the ports.
	callbackPath = "/auth/callback"
	// scopes are those that the reference implementation requests.
	scopes = "openid profile email offline_access api.connectors.read api.connectors.invoke"
)

// callbackPorts are the ports that are registered at the vendor.
var callbackPorts = []int{1455, 1457}

var (
	errNoKeyLogin  = errors.New("API key login is disabled by forced_login_method: sign in with ChatGPT")
	errNoChatGPT   = errors.New("ChatGPT login is disabled by forced_login_method: sign in with an API key")
	errKey         = errors.New("the API key is empty, or has characters that no key has")
	errClientHolds = errors.New("a client has given tokens of a ChatGPT account: call account/logout first, or give other tokens by account/login/start with chatgptAuthTokens")
	errReplaced    = errors.New("the login was replaced by a newer one")
	errCancelled   = errors.New("the login was cancelled")
	errTime        = errors.New("the login timed out: start it again")
	errNotOurs     = errors.New("the address does not belong to this login")
)

// Attempt is a login that waits for the user.
type Attempt struct {
	// ID names the attempt. URL is the address that the user opens, UserCode the code to enter there, or "".
	ID, URL, UserCode string

	account *Account
	issuer  Issuer
	ctx     context.Context
	cancel  context.CancelCauseFunc
	claimed sync.Once
	ending  sync.Once
	done    chan struct{} // closed after err is set
	ended   chan struct{} // closed after the attempt holds nothing
	err     error

	// run waits for the user, and returns the result.
	run func() error

	state, verifier, redirect string // of a browser
}

// newAttempt returns an attempt, if logins with ChatGPT are permitted.
func (a *Account) newAttempt(id string, within time.Duration) (*Attempt, error) {
	a.mu.Lock()
	held := a.client != nil
	a.mu.Unlock()
	switch {
	case held:
		return nil, errClientHolds
	case !a.Rules().PermitsMethod(ForceChatGPT):
		return nil, errNoChatGPT
	}
	at := &Attempt{ID: id, account: a, issuer: a.Issuer(), done: make(chan struct{}), ended: make(chan struct{})}
	if _, err := a.permit(at.issuer.URL); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	timer := time.AfterFunc(within, func() { cancel(errTime) })
	context.AfterFunc(ctx, func() { timer.Stop() })
	at.ctx, at.cancel = ctx, cancel
	return at, nil
}

// admit makes an attempt the only one.
func (a *Account) admit(at *Attempt) {
	a.mu.Lock()
	old := a.attempt
	a.attempt = at
	a.mu.Unlock()
	if old != nil {
		old.cancel(errReplaced)
		<-old.ended // it may hold the port
	}
}

// finish sets the result of an attempt, once.
func (at *Attempt) finish(err error) {
	at.ending.Do(func() {
		at.err = err
		close(at.done)
	})
}

// end removes an attempt that holds nothing any more.
func (at *Attempt) end() {
	at.cancel(nil)
	at.account.mu.Lock()
	if at.account.attempt == at {
		at.account.attempt = nil
	}
	at.account.mu.Unlock()
	close(at.ended)
}

// Start waits for the user in another goroutine. It calls then, unless that is nil, with the result. The caller of a
// Begin function calls it once.
func (at *Attempt) Start(then func(error)) {
	go func() {
		at.finish(at.run())
		at.end()
		if then != nil {
			then(at.err)
		}
	}()
}

// Wait returns when the login is stored or has failed.
func (at *Attempt) Wait() error {
	<-at.ended
	return at.err
}

// CancelAttempt cancels the attempt with an id, or any for "", and reports whether it was waiting.
func (a *Account) CancelAttempt(id string) bool {
	a.mu.Lock()
	at := a.attempt
	a.mu.Unlock()
	if at == nil || id != "" && at.ID != id {
		return false
	}
	at.cancel(errCancelled)
	<-at.ended
	return errors.Is(at.err, errCancelled)
}

// BeginBrowser starts a login in a browser, in place of another login that waits.
func (a *Account) BeginBrowser(id, originator string) (*Attempt, error) {
	at, err := a.newAttempt(id, browserTime)
	if err != nil {
		return nil, err
	}
	a.admit(at)
	port, err := openPort(at.issuer)
	if err != nil {
		at.finish(err)
		at.end()
		return nil, err
	}
	at.state, at.verifier = rand.Text(), oauth2.GenerateVerifier()
	at.redirect = "http://127.0.0.1:" + port.Number() + callbackPath
	at.URL = at.authorizeURL(originator, a.Rules().Workspaces)
	port.Serve(callbackPath, at.page)
	at.run = func() error {
		defer port.Close()
		select {
		case <-at.done:
			return at.err
		case <-at.ctx.Done():
			return context.Cause(at.ctx)
		}
	}
	return at, nil
}

// openPort opens a registered port. Another issuer than the vendor's accepts any port.
func openPort(i Issuer) (port *callback.Port, err error) {
	ports := callbackPorts
	if i.URL != defaultIssuer {
		ports = append(ports[:len(ports):len(ports)], 0)
	}
	for _, number := range ports {
		if port, err = callback.Listen(number); err == nil {
			return port, nil
		}
	}
	return nil, fmt.Errorf("the ports %d and %d of 127.0.0.1 for the browser cannot be opened: end the program that uses them, or sign in with a device code: %w",
		callbackPorts[0], callbackPorts[1], err)
}

func (at *Attempt) authorizeURL(originator string, workspaces []string) string {
	q := url.Values{"response_type": {"code"}, "client_id": {at.issuer.ClientID}, "redirect_uri": {at.redirect},
		"scope": {scopes}, "code_challenge": {oauth2.S256ChallengeFromVerifier(at.verifier)},
		"code_challenge_method": {"S256"}, "id_token_add_organizations": {"true"}, "codex_cli_simplified_flow": {"true"},
		"state": {at.state}, "originator": {originator}}
	if len(workspaces) > 0 {
		q.Set("allowed_workspace_id", strings.Join(workspaces, ","))
	}
	return at.issuer.URL + "/oauth/authorize?" + q.Encode()
}

// page processes the query that the browser brings.
func (at *Attempt) page(q url.Values) callback.Page {
	switch err := at.accept(q); {
	case errors.Is(err, errNotOurs):
		return callback.Page{Status: http.StatusBadRequest,
			Text: "This page does not belong to a login that waits. Start the login again."}
	case err != nil:
		return callback.Page{Status: http.StatusBadRequest,
			Text: "The login failed. The program that began it shows the reason. You can close this page."}
	}
	return callback.Page{Status: http.StatusOK, Text: "The login is complete. You can close this page."}
}

func (at *Attempt) accept(q url.Values) error {
	for _, values := range q {
		if len(values) > 1 {
			return errNotOurs
		}
	}
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(at.state)) != 1 {
		return errNotOurs
	}
	first := false
	at.claimed.Do(func() { first = true })
	if !first {
		return errNotOurs
	}
	err := at.answered(q)
	at.finish(err)
	return err
}

func (at *Attempt) answered(q url.Values) error {
	switch code := q.Get("code"); {
	case q.Has("error"):
		return fmt.Errorf("the sign-in failed: %s", shown(cmp.Or(q.Get("error_description"), q.Get("error"), "no reason given")))
	case code == "":
		return errors.New("the sign-in failed: the issuer sent no code")
	default:
		return at.complete(code, at.verifier, at.redirect)
	}
}

// complete stores the login for a code, and revokes the tokens of the login that it replaces.
func (at *Attempt) complete(code, verifier, redirect string) error {
	ctx, cancel := context.WithTimeout(at.ctx, storeTime)
	defer cancel()
	l, err := at.account.exchange(ctx, at.issuer, code, verifier, redirect)
	if err != nil {
		if cause := context.Cause(at.ctx); cause != nil {
			return cause
		}
		return err
	}
	previous, err := at.account.put(context.WithoutCancel(ctx), l)
	if err != nil {
		return err
	}
	if previous != nil && previous.Tokens.Refresh != l.Tokens.Refresh {
		at.account.revoke(context.WithoutCancel(ctx), previous)
	}
	return nil
}

// newOwner returns an identifier of a login.
func newOwner() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}
