package account

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"appserver/platform/excerpt"
	"appserver/platform/httpclient"
)

// The values of forced_login_method.
const (
	ForceAPI     = "api"
	ForceChatGPT = "chatgpt"
)

// Rules are settings of the user that restrict logins.
type Rules struct {
	// Methods are the permitted kinds of logins: ForceAPI and ForceChatGPT. Nil permits all.
	Methods []string
	// Workspaces are the permitted workspaces of ChatGPT accounts. Nil permits all.
	Workspaces []string
	// Hosts may get credentials beside the hosts of the vendor.
	Hosts Hosts
	// Backend is the address of the vendor's backend, or "" for the usual one.
	Backend string
}

// Options configure an Account.
type Options struct {
	// Store has the login.
	Store *Store
	// Rules returns the rules that apply now.
	Rules func() Rules
	// HTTP sends requests.
	HTTP *httpclient.Transport
	// Getenv reads the environment; nil is that of the process.
	Getenv func(string) string
	// Sign names this program, or the client, in requests; nil names nothing.
	Sign func(h map[string]string)
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Account is the login of the user. Its methods can be called concurrently.
type Account struct {
	Options

	mu sync.Mutex
	// client is the login of a client's tokens, or nil. It has precedence over the stored one.
	client *clientLogin
	// refreshing is the refresh under way, or nil.
	refreshing *refresh
	// refused are the refresh tokens that the issuer has rejected for good, with the reasons.
	refused map[string]error
	// unstored are the tokens of the last refresh, if they could not be stored, or nil.
	unstored *unstored
	// attempt is the login that waits for the user, or nil.
	attempt *Attempt
}

// New returns the account of a home.
func New(o Options) *Account {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Account{Options: o, refused: map[string]error{}}
}

// SignInError means that the user must sign in. It is the final reason for a request that is not sent.
type SignInError struct{ reason string }

// Error returns the reason and the next action.
func (e *SignInError) Error() string {
	return e.reason + ": sign in with `appserver login`, or with account/login/start"
}

// NeedsUser reports that another request fails in the same way.
func (e *SignInError) NeedsUser() bool { return true }

func signIn(format string, args ...any) error { return &SignInError{fmt.Sprintf(format, args...)} }

// Current returns the login, or nil if the user is signed out. The error states why a stored login cannot be used. If
// another login can help, it is a *SignInError.
func (a *Account) Current() (*Login, error) {
	l, err := a.held()
	if l == nil || err != nil {
		return nil, err
	}
	if err := a.usable(l); err != nil {
		return nil, err
	}
	return l, nil
}

// held returns the login of a client, or the stored one.
func (a *Account) held() (*Login, error) {
	a.mu.Lock()
	client := a.client
	a.mu.Unlock()
	if client != nil {
		return client.login, nil
	}
	return a.Store.Load()
}

// usable rejects a login that this program cannot use, or that the rules do not permit. The login remains.
func (a *Account) usable(l *Login) error {
	switch l.Mode {
	case APIKey, ChatGPT, ClientTokens:
	default:
		return signIn("the stored login is of the kind %s, which this program cannot use", shown(l.Mode))
	}
	switch {
	case l.Secret() == "":
		return signIn("the stored login has no key and no token")
	case !isHeaderText(l.Secret()) || !isHeaderText(l.Tokens.AccountID):
		return signIn("the stored login has characters that no header can have")
	}
	return a.permitted(l)
}

// permitted checks the rules for a login.
func (a *Account) permitted(l *Login) error {
	rules := a.Rules()
	switch isKey := l.Mode == APIKey; {
	case !isKey && !rules.PermitsMethod(ForceChatGPT):
		return signIn("forced_login_method, or a requirement of the administrator, permits no ChatGPT account")
	case isKey && !rules.PermitsMethod(ForceAPI):
		return signIn("forced_login_method, or a requirement of the administrator, permits no API key")
	case !isKey && !rules.permits(l.workspace()):
		return signIn("forced_chatgpt_workspace_id permits the workspaces %s only, and the login is for %s",
			strings.Join(rules.Workspaces, ", "), cmp.Or(shown(l.workspace()), "none"))
	}
	return nil
}

// permits reports whether a workspace can be used.
func (r Rules) permits(workspace string) bool {
	return r.Workspaces == nil || slices.Contains(r.Workspaces, workspace)
}

// PermitsMethod reports whether a kind of login is permitted.
func (r Rules) PermitsMethod(method string) bool {
	return r.Methods == nil || slices.Contains(r.Methods, method)
}

// isHeaderText reports whether a header can have a text.
func isHeaderText(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// shown returns a text of others in one line without control characters, and bounded.
func shown(text string) string { return excerpt.FirstRunes(excerpt.Line(text), 200) }

// SetKey stores an API key in place of the login.
func (a *Account) SetKey(ctx context.Context, key string) error {
	key = strings.TrimSpace(key)
	switch {
	case a.HasClientTokens():
		return errClientHolds
	case !a.Rules().PermitsMethod(ForceAPI):
		return errNoKeyLogin
	case key == "" || !isHeaderText(key):
		return errKey
	}
	a.CancelAttempt("")
	_, err := a.put(ctx, &Login{Mode: APIKey, APIKey: key})
	return err
}

// put stores a login in place of another one.
func (a *Account) put(ctx context.Context, l *Login) (previous *Login, err error) {
	_, err = a.Store.Update(ctx, func(stored *Login) (*Login, error) {
		previous = stored
		return l.replacing(stored), nil
	})
	return previous, err
}

// Logout removes the login, also the stored one below that of a client, and revokes the stored tokens. It reports
// whether there was one. A revocation that fails changes nothing: the tokens are removed all the same.
func (a *Account) Logout(ctx context.Context) (bool, error) {
	a.CancelAttempt("")
	a.mu.Lock()
	client := a.client
	a.client = nil
	a.mu.Unlock()
	stored, err := a.Store.Load()
	if err != nil {
		return client != nil, err
	}
	removed, err := a.Store.Remove(ctx)
	if err != nil {
		return client != nil, err
	}
	if stored != nil {
		a.revoke(ctx, stored)
	}
	return removed || client != nil, nil
}

// Close waits for a refresh, so that its tokens are not lost.
func (a *Account) Close(ctx context.Context) error {
	a.mu.Lock()
	r, at := a.refreshing, a.attempt
	a.mu.Unlock()
	if at != nil {
		at.cancel(errCancelled)
	}
	if r == nil {
		return nil
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the tokens of the account were not stored in time: %w", ctx.Err())
	}
}
