package login

import (
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"appserver/core/effects/mcp/credentials"
	"appserver/platform/httpclient"
)

// Server is an MCP server with the settings of its logins.
type Server struct {
	Name, URL string
	// Headers are sent to the MCP server only.
	Headers map[string]string
	// ClientID is a registered client, or "" to register one. ClientSecret is its secret, or "".
	ClientID, ClientSecret string
	// Resource is the resource to request, or "" for the one of the metadata.
	Resource string
	// Scopes are the scopes to request, or nil for those that the server asks for.
	Scopes []string
	// CallbackPort is the port for the browser, or 0 for a free one.
	CallbackPort int
	// CallbackURL is the address that the authorization server sends the browser to, or "" for one of the port. If
	// ExactCallback is not set, the path gets an id of the server.
	CallbackURL   string
	ExactCallback bool
}

// Options configure Logins.
type Options struct {
	Store *credentials.Store
	// HTTP sends requests to authorization servers; nil is a transport by the environment of the process.
	HTTP *httpclient.Transport
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Logins logs in at MCP servers. Its methods can be called concurrently.
type Logins struct {
	Options
	mu sync.Mutex
	// known are the logins by their keys, as this process has read or written them last.
	known map[string]knownLogin
	// unstored are refreshed logins by their keys, if they could not be stored.
	unstored map[string]unstored
	// attempts are the attempts by the keys of their servers.
	attempts map[string]*Attempt
}

// knownLogin is a login as it was at a time. Nothing changes it.
type knownLogin struct {
	login *credentials.Login
	at    time.Time
}

// New returns Logins.
func New(o Options) *Logins {
	if o.HTTP == nil {
		o.HTTP = httpclient.New(os.Getenv).Transport()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Logins{Options: o, known: map[string]knownLogin{}, unstored: map[string]unstored{},
		attempts: map[string]*Attempt{}}
}

func (s *Server) key() string { return credentials.Key(s.Name, s.URL) }

// Logout removes the login at a server, and reports whether there was one.
func (l *Logins) Logout(s Server) (bool, error) {
	l.mu.Lock()
	delete(l.known, s.key())
	l.mu.Unlock()
	return l.Store.Remove(s.Name, s.URL)
}

// HasToken reports whether headers have a token, so that no login is used.
func HasToken(headers map[string]string) bool {
	for name := range headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

// sameOrigin reports whether two addresses have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
