package server

import (
	"context"

	"appserver/protocol"
)

// Accounts has the login of the user. Errors have no key and no token.
type Accounts interface {
	Read(ctx context.Context, refresh bool) (protocol.GetAccountResponse, error)
	Status(ctx context.Context, p *protocol.GetAuthStatusParams) (protocol.GetAuthStatusResponse, error)
	// Login signs in for a client. The function is called after the response was sent.
	Login(ctx context.Context, conn uint64, p *protocol.LoginAccountParams) (protocol.LoginAccountResponse, func(), error)
	// Cancel reports whether a login with the id was waiting.
	Cancel(id string) bool
	// Logout signs out. The function is called after the response was sent.
	Logout(ctx context.Context) (func(), error)
	Limits(ctx context.Context) (protocol.GetAccountRateLimitsResponse, error)
}

// GetAccount returns the account of the user.
func (h ServerHandlers) GetAccount(to protocol.Caller, p *protocol.GetAccountParams) error {
	return h.RunInBackground(to, func() (any, error) { return h.Accounts.Read(context.Background(), p.RefreshToken) })
}

// GetAuthStatus returns the state of the login, in an older form.
func (h ServerHandlers) GetAuthStatus(to protocol.Caller, p *protocol.GetAuthStatusParams) error {
	return h.RunInBackground(to, func() (any, error) { return h.Accounts.Status(context.Background(), p) })
}

// LoginAccount begins a login. Notifications of its end follow the response.
func (h ServerHandlers) LoginAccount(to protocol.Caller, p *protocol.LoginAccountParams) error {
	if err := p.Check(); err != nil {
		return err
	}
	return h.ReplyThen(to, func() (any, func(), error) { return h.Accounts.Login(context.Background(), to.Conn, p) })
}

// CancelLoginAccount cancels a login that waits for the user.
func (h ServerHandlers) CancelLoginAccount(to protocol.Caller, p *protocol.CancelLoginAccountParams) error {
	return h.RunInBackground(to, func() (any, error) {
		if h.Accounts.Cancel(p.LoginID) {
			return protocol.CancelLoginAccountResponse{Status: "canceled"}, nil
		}
		return protocol.CancelLoginAccountResponse{Status: "notFound"}, nil
	})
}

// LogoutAccount removes the login. A notification follows the response.
func (h ServerHandlers) LogoutAccount(to protocol.Caller, _ *protocol.LogoutAccountParams) error {
	return h.ReplyThen(to, func() (any, func(), error) {
		then, err := h.Accounts.Logout(context.Background())
		return protocol.Empty{}, then, err
	})
}

// GetAccountRateLimits returns the limits of a ChatGPT account.
func (h ServerHandlers) GetAccountRateLimits(to protocol.Caller, _ *protocol.GetAccountRateLimitsParams) error {
	return h.RunInBackground(to, func() (any, error) { return h.Accounts.Limits(context.Background()) })
}
