package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"appserver/core/effects/config"
	"appserver/core/effects/mcp"
	"appserver/core/effects/mcp/credentials"
	"appserver/core/effects/mcp/login"
	"appserver/core/engine"
	"appserver/platform/httpclient"
	"appserver/protocol"
)

// serverLogins adapts logins to the pool of connections.
type serverLogins struct{ logins *login.Logins }

func newLogins(c *config.Config, home string, network *httpclient.Environment) serverLogins {
	return serverLogins{login.New(login.Options{Store: credentials.New(home, c.McpCredentialsStore),
		HTTP: network.Transport()})}
}

// Transport implements mcp.Logins.
func (l serverLogins) Transport(d mcp.Definition, next http.RoundTripper) http.RoundTripper {
	return l.logins.Transport(loginServer(d), next)
}

// Status implements mcp.Logins.
func (l serverLogins) Status(ctx context.Context, d mcp.Definition) string {
	return l.logins.Status(ctx, loginServer(d))
}

// Mark implements mcp.Logins.
func (l serverLogins) Mark(d mcp.Definition) string { return l.logins.Mark(loginServer(d)) }

// loginServer returns the settings of logins in a definition.
func loginServer(d mcp.Definition) login.Server {
	s, _ := d.Login.(login.Server) // each definition of a service has one
	return s
}

// loginSettings returns the settings of logins at a service, which gets the headers.
func loginSettings(c *config.Config, m config.McpServer, headers map[string]string) login.Server {
	s := login.Server{Name: m.Name, URL: m.URL, Headers: headers, ClientID: m.OAuth.ClientID,
		ClientSecret: m.OAuth.ClientSecret, Resource: m.OAuthResource, Scopes: m.Scopes,
		CallbackPort: cmp.Or(m.OAuth.CallbackPort, c.McpCallbackPort),
		CallbackURL:  cmp.Or(m.OAuth.CallbackURL, c.McpCallbackURL)}
	s.ExactCallback = m.OAuth.CallbackURL != ""
	return s
}

// login begins a login at a server of a thread, or of the configuration.
func (s *mcpServers) login(ctx context.Context, thread *string,
	p *protocol.McpServerOauthLoginParams) (*engine.ServerLogin, error) {
	d, err := s.definition(thread, p.Name)
	switch {
	case err != nil:
		return nil, err
	case d.URL == "":
		return nil, fmt.Errorf("the MCP server '%s' is a program: only services with a url have logins", p.Name)
	case d.Problem != nil:
		return nil, d.Problem
	}
	var scopes []string
	if p.Scopes != nil {
		scopes = append([]string{}, *p.Scopes...)
	}
	within := login.DefaultTime
	if p.TimeoutSecs != nil {
		within = time.Duration(min(max(*p.TimeoutSecs, 1), int64(login.MaxTime/time.Second))) * time.Second
	}
	a, err := s.logins.logins.Begin(ctx, loginServer(d), scopes, within)
	if err != nil {
		return nil, err
	}
	return &engine.ServerLogin{URL: a.URL, Wait: a.Wait, Retry: func() { s.pool.RetryService(d.Name, d.URL) }}, nil
}

// definition returns the server of a thread, or of the configuration.
func (s *mcpServers) definition(thread *string, name string) (mcp.Definition, error) {
	if thread != nil {
		return s.pool.Definition(*thread, name)
	}
	all := definitions(s.config.Current(), "")
	i := slices.IndexFunc(all, func(d mcp.Definition) bool { return d.Name == name })
	if i < 0 {
		return mcp.Definition{}, unknownServer(name)
	}
	return all[i], nil
}

func unknownServer(name string) error {
	return fmt.Errorf("no MCP server named '%s' is configured", name)
}

// ServerAccounts are the logins at the MCP servers of the user's configuration, for commands.
type ServerAccounts struct {
	Config *config.Config
	Live   *config.Live
	logins serverLogins
}

// NewServerAccounts reads the configuration. It contains no settings of projects.
func NewServerAccounts(o *Options) (*ServerAccounts, error) {
	home, err := CodexHome()
	if err != nil {
		return nil, err
	}
	source := config.Source{Home: home, System: config.SystemFile, Overrides: o.Overrides, Provider: o.Provider,
		Getenv: os.Getenv}
	c, err := config.Load(source)
	if err != nil {
		return nil, err
	}
	return &ServerAccounts{c, config.NewLive(source, c), newLogins(c, home, httpclient.New(os.Getenv))}, nil
}

// settings returns the settings of logins at a server.
func (a *ServerAccounts) settings(m config.McpServer) (login.Server, error) {
	headers, err := a.Config.RequestHeaders(m)
	return loginSettings(a.Config, m, headers), err
}

// Begin begins a login at a server.
func (a *ServerAccounts) Begin(ctx context.Context, m config.McpServer, scopes []string) (*login.Attempt, error) {
	s, err := a.settings(m)
	if err != nil {
		return nil, err
	}
	return a.logins.logins.Begin(ctx, s, scopes, 0)
}

// Logout removes the login at a server, and reports whether there was one.
func (a *ServerAccounts) Logout(m config.McpServer) (bool, error) {
	return a.logins.logins.Logout(login.Server{Name: m.Name, URL: m.URL})
}

// Status returns an authStatus of protocol.McpServerStatus.
func (a *ServerAccounts) Status(ctx context.Context, m config.McpServer) string {
	switch {
	case m.URL == "":
		return login.StatusUnsupported
	case m.BearerTokenEnvVar != "":
		return login.StatusBearerToken
	}
	s, err := a.settings(m)
	if err != nil {
		return login.StatusUnknown
	}
	return a.logins.logins.Status(ctx, s)
}

// CallbackURL returns the address that a client for logins at a service is registered with.
func CallbackURL(address string) string { return login.CallbackURL(address) }

// IsUsers reports whether the user's file has a server. Other layers cannot be edited.
func (a *ServerAccounts) IsUsers(name string) bool { return a.Config.UserHasServer(name) }
