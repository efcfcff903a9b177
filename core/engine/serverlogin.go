package engine

import (
	"context"

	"appserver/protocol"
)

// McpServerOauthLogin begins a login at a server. It replies with the address for the user, and notifies all
// clients when the login has ended.
func (e *Engine) McpServerOauthLogin(to protocol.Caller, p *protocol.McpServerOauthLoginParams) error {
	if err := p.Check(); err != nil {
		return err
	}
	return e.checkThread(to, p.ThreadID, func() error {
		return e.workWithServers(func(ctx context.Context) { e.login(ctx, to, p) })
	})
}

func (e *Engine) login(ctx context.Context, to protocol.Caller, p *protocol.McpServerOauthLoginParams) {
	var login *ServerLogin
	id := e.parts.NewID()
	e.answer(to, func() (any, error) {
		begun, err := e.parts.Servers.Login(ctx, p.ThreadID, p)
		if err != nil {
			return nil, serverFailure(err)
		}
		login = begun
		return protocol.McpServerOauthLoginResponse{AuthorizationURL: login.URL, LoginID: id}, nil
	})
	if login == nil {
		return
	}
	n := protocol.McpServerOauthLoginCompletedNotification{Name: p.Name, ThreadID: p.ThreadID, LoginID: &id, Success: true}
	if err := login.Wait(); err != nil {
		n.Success, n.Error = false, new(err.Error())
	}
	e.broadcast(n)
	if n.Success {
		login.Retry()
	}
}
