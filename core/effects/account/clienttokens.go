package account

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Given are tokens of a ChatGPT account that a client gives.
type Given struct {
	Access, AccountID string
	// Plan is the plan of the account, or "" for the one of the token.
	Plan string
}

// Ask asks the client for other tokens than those of a workspace.
type Ask func(ctx context.Context, workspace string) (Given, error)

// askTime bounds the wait for a client's tokens.
const askTime = 10 * time.Second

// clientLogin is a login with tokens of a client.
type clientLogin struct {
	login *Login
	ask   Ask
}

// SetClientTokens signs in with tokens of a client. They are in memory only, and have precedence over the stored login.
func (a *Account) SetClientTokens(g Given, ask Ask) error {
	if !a.Rules().PermitsMethod(ForceChatGPT) {
		return errNoChatGPT
	}
	l, err := a.given(g)
	if err != nil {
		return err
	}
	a.CancelAttempt("")
	a.mu.Lock()
	a.client = &clientLogin{l, ask}
	a.mu.Unlock()
	return nil
}

// given returns the login of tokens, if the rules permit it.
func (a *Account) given(g Given) (*Login, error) {
	l := &Login{Mode: ClientTokens, Refreshed: a.Now(), plan: g.Plan,
		Tokens: Tokens{ID: g.Access, Access: g.Access, AccountID: g.AccountID}}
	switch {
	case strings.Count(g.Access, ".") != 2 || !isHeaderText(g.Access):
		return nil, errors.New("the access token is no JWT")
	case g.AccountID == "" || !isHeaderText(g.AccountID):
		return nil, errors.New("the account id is empty, or has characters that no id has")
	case !a.Rules().permits(g.AccountID):
		return nil, fmt.Errorf("forced_chatgpt_workspace_id permits the workspaces %s only, and the tokens are for %s",
			strings.Join(a.Rules().Workspaces, ", "), shown(g.AccountID))
	}
	return l, nil
}

// HasClientTokens reports whether a client has given the tokens.
func (a *Account) HasClientTokens() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.client != nil
}

// askClient asks the client for other tokens than the rejected ones, unless it has given others meanwhile.
func (a *Account) askClient(ctx context.Context, rejected *Login) (*Login, error) {
	client := a.clientOf()
	switch {
	case client == nil:
		return nil, errOther()
	case !client.login.isSame(rejected):
		return client.login, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	g, err := client.ask(ctx, rejected.Tokens.AccountID)
	if err != nil {
		return nil, fmt.Errorf("the client gave no other tokens of the account: %w", err)
	}
	l, err := a.given(g)
	if err != nil {
		return nil, fmt.Errorf("the client's tokens of the account cannot be used: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.client != client {
		return nil, errOther()
	}
	a.client = &clientLogin{l, client.ask}
	return l, nil
}

func (a *Account) clientOf() *clientLogin {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.client
}
