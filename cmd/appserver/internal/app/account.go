package app

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"appserver/core/effects/account"
	"appserver/core/effects/config"
	"appserver/core/effects/model"
	"appserver/platform/httpclient"
	"appserver/protocol"
	"appserver/server"
)

// accounts serves the login of the user to clients and to providers.
type accounts struct {
	*localHome
	server *server.Server // nil if there are no clients
	// changes counts the logins and logouts.
	changes atomic.Uint64
	// warned is set after a warning about a login that cannot be used.
	warned sync.Once
}

// openAccount returns the login of the user. The rules for it are those of the current configuration.
func openAccount(live *config.Live, home string, identity *model.Identity) *account.Account {
	return account.New(account.Options{Store: account.NewStore(home, live.Current().AuthStore),
		Rules: func() account.Rules { return rulesOf(live.Current()) },
		HTTP:  httpclient.New(os.Getenv).Transport(), Sign: identity.Sign})
}

// rulesOf returns the rules for logins in a configuration.
func rulesOf(c *config.Config) account.Rules {
	rules := account.Rules{Hosts: c.AccountHosts, Backend: c.ChatGPTBaseURL}
	rules.Methods, rules.Workspaces = c.PermittedLogins()
	return rules
}

// signedIn reports whether there is a login that can be used.
func signedIn(a *account.Account) (bool, error) {
	l, err := a.Current()
	return l != nil, err
}

// warning returns a warning about a stored login that cannot be used, or nothing.
func (a *accounts) warning() []string {
	if _, err := a.account.Current(); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// required reports whether the provider of new threads needs a login, and whether it has a key of its own.
func (a *accounts) required() (uses, ownKey bool) {
	c := a.config.Current()
	p, err := c.Provider(c.ModelProvider)
	if err != nil || !c.UsesAccount(p) {
		return false, false
	}
	return true, c.HasOwnKey(p)
}

// current returns the login after a refresh, if one is requested, or nil. An unusable login counts as none.
func (a *accounts) current(ctx context.Context, refresh bool) *account.Login {
	if refresh {
		if err := a.account.Refresh(ctx); err != nil {
			a.log.Warn("the tokens of the account were not refreshed", zap.Error(err))
		}
	}
	l, err := a.account.Current()
	if err != nil {
		a.warned.Do(func() { a.log.Warn("the login cannot be used", zap.Error(err)) })
		return nil
	}
	return l
}

// Read implements server.Accounts.
func (a *accounts) Read(ctx context.Context, refresh bool) (protocol.GetAccountResponse, error) {
	var answer protocol.GetAccountResponse
	uses, ownKey := a.required()
	if !uses {
		return answer, nil
	}
	l := a.current(ctx, refresh)
	answer.RequiresOpenaiAuth = l != nil || !ownKey
	switch {
	case l == nil, a.account.IsRefused(l):
	case l.Mode == account.APIKey:
		answer.Account = &protocol.Account{Type: "apiKey"}
	default:
		h := l.Holder()
		answer.Account = &protocol.Account{Type: "chatgpt", Email: protocol.OrNil(h.Email), PlanType: &h.Plan}
		answer.UserID = protocol.OrNil(h.User)
	}
	return answer, nil
}

// Status implements server.Accounts.
func (a *accounts) Status(ctx context.Context, p *protocol.GetAuthStatusParams) (
	answer protocol.GetAuthStatusResponse, err error) {
	uses, ownKey := a.required()
	if !uses {
		return answer, nil
	}
	l := a.current(ctx, p.RefreshToken != nil && *p.RefreshToken)
	answer.RequiresOpenaiAuth = l != nil || !ownKey
	if l == nil {
		return answer, nil
	}
	answer.AuthMethod = &l.Mode
	if p.IncludeToken != nil && *p.IncludeToken && !a.account.IsRefused(l) {
		answer.AuthToken = protocol.OrNil(l.Secret())
	}
	return answer, nil
}

// refused returns the error for a client.
func refused(err error) error {
	var problem *protocol.Error
	if errors.As(err, &problem) {
		return err
	}
	return protocol.Refuse(protocol.KindAccount, "%v", err)
}

// Login implements server.Accounts.
func (a *accounts) Login(ctx context.Context, ask server.Asker, p *protocol.LoginAccountParams) (
	answer protocol.LoginAccountResponse, then func(), err error) {
	answer.Type = p.Type
	var at *account.Attempt
	id := uuid.NewString()
	switch p.Type {
	case protocol.LoginAPIKey:
		err = a.account.SetKey(ctx, *p.APIKey)
	case protocol.LoginClientTokens:
		err = a.account.SetClientTokens(given(*p.AccessToken, *p.ChatgptAccountID, p.ChatgptPlanType), askClient(ask))
	case protocol.LoginDeviceCode:
		at, err = a.account.BeginDevice(ctx, id)
	default:
		at, err = a.account.BeginBrowser(id, a.identity.Originator())
	}
	if err != nil {
		return answer, nil, refused(err)
	}
	if at == nil {
		return answer, func() { a.completed(nil, nil) }, nil
	}
	answer.LoginID = &id
	if p.Type == protocol.LoginDeviceCode {
		answer.VerificationURL, answer.UserCode = &at.URL, &at.UserCode
	} else {
		answer.AuthURL = &at.URL
	}
	return answer, func() { at.Start(func(err error) { a.completed(&id, err) }) }, nil
}

// completed notifies the clients of the end of a login.
func (a *accounts) completed(id *string, err error) {
	n := protocol.AccountLoginCompletedNotification{LoginID: id, Success: err == nil}
	if err != nil {
		n.Error = new(err.Error())
	}
	a.notify(n)
	if err == nil {
		a.updated()
	}
}

// updated notifies the clients of the login that counts now.
func (a *accounts) updated() {
	a.changes.Add(1)
	n := protocol.AccountUpdatedNotification{}
	if l, err := a.account.Current(); err == nil && l != nil {
		n.AuthMode = &l.Mode
		if l.Mode != account.APIKey {
			n.PlanType = new(l.Holder().Plan)
		}
	}
	a.notify(n)
}

func (a *accounts) notify(n protocol.Notification) {
	if a.server == nil {
		return
	}
	for _, conn := range a.server.Clients() {
		a.server.Notify(conn, n)
	}
}

// Cancel implements server.Accounts.
func (a *accounts) Cancel(id string) bool { return id != "" && a.account.CancelAttempt(id) }

// Logout implements server.Accounts.
func (a *accounts) Logout(ctx context.Context) (func(), error) {
	if _, err := a.account.Logout(ctx); err != nil {
		return nil, refused(err)
	}
	return a.updated, nil
}

// Limits implements server.Accounts.
func (a *accounts) Limits(ctx context.Context) (answer protocol.GetAccountRateLimitsResponse, err error) {
	limits, err := a.account.Usage(ctx)
	if err != nil {
		return answer, refused(err)
	}
	answer.RateLimits, answer.RateLimitsByLimitID = limits[0], map[string]protocol.RateLimitSnapshot{}
	for _, l := range limits {
		answer.RateLimitsByLimitID[*l.LimitID] = l
	}
	return answer, nil
}

func given(token, workspace string, plan *string) account.Given {
	g := account.Given{Access: token, AccountID: workspace}
	if plan != nil {
		g.Plan = *plan
	}
	return g
}

// errClientGone means that the client that gave tokens has disconnected.
var errClientGone = errors.New("the client that gave them does not answer; sign in again")

// askClient returns a function that asks a client for other tokens.
func askClient(ask server.Asker) account.Ask {
	return func(ctx context.Context, workspace string) (account.Given, error) {
		result, err := ask(ctx, protocol.MethodClientTokens, protocol.ChatgptAuthTokensRefreshParams{
			Reason: "unauthorized", PreviousAccountID: protocol.OrNil(workspace)})
		var r protocol.ChatgptAuthTokensRefreshResponse
		if err != nil || protocol.Unmarshal(result, &r) != nil {
			return account.Given{}, errClientGone
		}
		return given(r.AccessToken, r.ChatgptAccountID, r.ChatgptPlanType), nil
	}
}

// providerAccount authorizes requests to one provider.
type providerAccount struct {
	*accounts
	provider config.Provider
}

// Authorize implements model.Account. The key of the provider counts if there is no usable login.
func (p providerAccount) Authorize(ctx context.Context, rejected *model.Grant) (*model.Grant, error) {
	var old *account.Grant
	if rejected != nil {
		old, _ = rejected.Of.(*account.Grant)
	}
	g, err := p.account.Authorize(ctx, p.address, old)
	var unusable *account.SignInError
	switch {
	case errors.As(err, &unusable) && old == nil && p.config.Current().HasOwnKey(p.provider):
		return nil, nil
	case err != nil || g == nil:
		return nil, err
	case g == old:
		return rejected, nil
	}
	return &model.Grant{BaseURL: g.BaseURL, Headers: g.Headers, Secrets: g.Secrets, Of: g}, nil
}

// address returns the address of requests with a login of a mode. ChatGPT accounts have another one than keys, unless
// the user has set one.
func (p providerAccount) address(mode string) string {
	if p.provider.ID == config.ProviderOpenAI && p.provider.BaseURL == config.OpenAIAddress {
		return account.Backend(mode, p.provider.BaseURL)
	}
	return p.provider.BaseURL
}

// Report implements model.Account. It notifies the clients of the limits in the headers.
func (p providerAccount) Report(h http.Header) {
	for _, l := range account.LimitsOf(h) {
		p.notify(protocol.AccountRateLimitsUpdatedNotification{RateLimits: l})
	}
}

// UserAccount is the login of the user, for commands.
type UserAccount struct {
	*account.Account
	Config *config.Config
}

// NewUserAccount reads the configuration, without settings of projects. An issuer and a client that are not "" replace
// those of the environment.
func NewUserAccount(o *Options, issuer, client string) (*UserAccount, error) {
	local, err := loadHome(o, zap.NewNop())
	if err != nil {
		return nil, err
	}
	c := local.config.Current()
	return &UserAccount{account.New(account.Options{Store: account.NewStore(local.home, c.AuthStore),
		Rules: func() account.Rules { return rulesOf(c) },
		HTTP:  httpclient.New(os.Getenv).Transport(), Getenv: account.WithIssuer(os.Getenv, issuer, client)}), c}, nil
}
