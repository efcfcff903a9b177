package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"appserver/protocol"
)

// Accounts has the login of the user. Errors have no key and no token.
type Accounts interface {
	Read(ctx context.Context, refresh bool) (protocol.GetAccountResponse, error)
	Status(ctx context.Context, p *protocol.GetAuthStatusParams) (protocol.GetAuthStatusResponse, error)
	// Login signs in for a client. The function is called after the response was sent.
	Login(ctx context.Context, ask Asker, p *protocol.LoginAccountParams) (protocol.LoginAccountResponse, func(), error)
	// Cancel reports whether a login with the id was waiting.
	Cancel(id string) bool
	// Logout signs out. The function is called after the response was sent.
	Logout(ctx context.Context) (func(), error)
	Limits(ctx context.Context) (protocol.GetAccountRateLimitsResponse, error)
}

// Asker sends a request to one client, and returns the result. It fails if the client is gone or rejects the request.
type Asker func(ctx context.Context, method string, params any) (json.RawMessage, error)

// errClientGone means that a client that is asked has disconnected.
var errClientGone = errors.New("the client has disconnected")

// asker returns an Asker for a client.
func (h ServerHandlers) asker(conn uint64) Asker {
	return func(ctx context.Context, method string, params any) (json.RawMessage, error) {
		if _, connected := h.Outbox.Client(conn); !connected {
			return nil, errClientGone
		}
		type answer struct {
			result json.RawMessage
			err    error
		}
		answers := make(chan answer, 1)
		id := h.NextRequest()
		h.Outbox.Ask(conn, id, method, params, func(result json.RawMessage, err error) {
			answers <- answer{slices.Clone(result), err}
		})
		select {
		case a := <-answers:
			return a.result, a.err
		case <-ctx.Done():
			h.Outbox.Withdraw(conn, id)
			return nil, ctx.Err()
		}
	}
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
	return h.ReplyThen(to, func() (any, func(), error) {
		return h.Accounts.Login(context.Background(), h.asker(to.Conn), p)
	})
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
