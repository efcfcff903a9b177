package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"appserver/protocol"
)

const (
	resourcePath = "/.well-known/oauth-protected-resource"
	issuerPath   = "/.well-known/oauth-authorization-server"
	openidPath   = "/.well-known/openid-configuration"
	// maxIssuers bounds the authorization servers that are tried.
	maxIssuers = 4
)

// resourceMetadata are members of the metadata of a protected resource (RFC 9728).
type resourceMetadata struct {
	Resource string   `json:"resource"`
	Issuers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// issuerMetadata are members of the metadata of an authorization server (RFC 8414). Challenges is nil if they are not
// declared.
type issuerMetadata struct {
	Issuer       string   `json:"issuer"`
	Authorize    string   `json:"authorization_endpoint"`
	Token        string   `json:"token_endpoint"`
	Register     string   `json:"registration_endpoint"`
	Scopes       []string `json:"scopes_supported"`
	Challenges   []string `json:"code_challenge_methods_supported"`
	TokenMethods []string `json:"token_endpoint_auth_methods_supported"`
	NamesIssuer  bool     `json:"authorization_response_iss_parameter_supported"`
}

// discovery is how a client logs in at a server.
type discovery struct {
	guard    *guard
	issuer   issuerMetadata
	resource string
	// scopes are those that the server asks for.
	scopes []string
}

// discover finds the authorization server of an MCP server. The error wraps errNoLogin or errUnreachable if that is the
// reason.
func (l *Logins) discover(ctx context.Context, s Server) (*discovery, error) {
	g, err := l.guardOf(s)
	if err != nil {
		return nil, err
	}
	challenges, err := g.probe(ctx, s)
	if err != nil {
		return nil, err
	}
	resource, err := g.findResource(ctx, s, challenges)
	if err != nil {
		return nil, err
	}
	d := &discovery{guard: g, resource: resource.Resource, scopes: resource.Scopes}
	if scope := parameter(challenges, "scope"); scope != "" {
		d.scopes = strings.Fields(scope)
	}
	if d.issuer, err = g.findIssuer(ctx, resource.Issuers); err != nil {
		return nil, err
	}
	return d, d.check()
}

// probe requests the MCP server without a token, and returns what it demands.
func (g *guard) probe(ctx context.Context, s Server) ([]oauthex.Challenge, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("the address of the MCP server `%s` is not valid", s.Name)
	}
	for name, value := range s.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Accept", "text/event-stream")
	response, err := g.client(true).Do(r)
	if err != nil {
		return nil, fmt.Errorf("the MCP server `%s` cannot offer a login: %w: %s", s.Name, errUnreachable,
			clean(withoutAddress(err)))
	}
	defer response.Body.Close()
	return challengesOf(response), nil
}

// challengesOf returns the challenges of a response, or none if they cannot be read.
func challengesOf(r *http.Response) []oauthex.Challenge {
	challenges, err := oauthex.ParseWWWAuthenticate(r.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(challenges, func(c oauthex.Challenge) bool { return c.Scheme != "bearer" })
}

func parameter(challenges []oauthex.Challenge, name string) string {
	for _, c := range challenges {
		if value := c.Params[name]; value != "" {
			return value
		}
	}
	return ""
}

// findResource returns the metadata of the MCP server: those that its challenge names, or those at a known path. A
// server without any is its own authorization server.
func (g *guard) findResource(ctx context.Context, s Server, challenges []oauthex.Challenge) (*resourceMetadata, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	var last error
	for _, address := range resourceAddresses(u, parameter(challenges, "resource_metadata")) {
		var m resourceMetadata
		found, err := g.get(ctx, address, &m)
		switch {
		case err != nil:
			last = cmp.Or(last, err)
		case !found:
		case !covers(m.Resource, u):
			last = fmt.Errorf("its metadata are of the resource %s", clean(m.Resource))
		case len(m.Issuers) == 0:
			return nil, fmt.Errorf("the MCP server `%s` offers no login: %w", s.Name, errNoLogin)
		default:
			return &m, nil
		}
	}
	if last != nil {
		return nil, fmt.Errorf("the metadata of the MCP server `%s` cannot be used: %w", s.Name, last)
	}
	own := &resourceMetadata{Resource: s.URL, Issuers: []string{strings.TrimSuffix(withPath(u, u.Path), "/")}}
	if root := withPath(u, ""); root != own.Issuers[0] {
		own.Issuers = append(own.Issuers, root)
	}
	return own, nil
}

// resourceAddresses returns the addresses of metadata: the named one, and the known ones.
func resourceAddresses(u *url.URL, named string) (out []string) {
	ofPath := withPath(u, resourcePath+strings.TrimSuffix(u.Path, "/"))
	for _, a := range []string{named, ofPath, withPath(u, resourcePath)} {
		if a != "" && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// withPath returns the origin of an address with another path.
func withPath(u *url.URL, path string) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}).String()
}

// covers reports whether a resource is the address u, or an address above it.
func covers(resource string, u *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || !sameOrigin(r, u) || r.User != nil || r.Fragment != "" {
		return false
	}
	if r.RawQuery != "" && r.RawQuery != u.RawQuery {
		return false
	}
	above, path := strings.TrimSuffix(r.Path, "/"), strings.TrimSuffix(u.Path, "/")
	return path == above || strings.HasPrefix(path, above+"/")
}

// findIssuer returns the metadata of the first authorization server that has some.
func (g *guard) findIssuer(ctx context.Context, issuers []string) (issuerMetadata, error) {
	var last error
	for _, issuer := range issuers[:min(len(issuers), maxIssuers)] {
		m, err := g.issuerOf(ctx, issuer)
		if err == nil {
			return m, nil
		}
		if last == nil || errors.Is(last, errNoLogin) {
			last = err
		}
	}
	return issuerMetadata{}, last
}

func (g *guard) issuerOf(ctx context.Context, issuer string) (issuerMetadata, error) {
	u, err := g.check(issuer)
	if err != nil {
		return issuerMetadata{}, err
	}
	for _, address := range issuerAddresses(u) {
		var m issuerMetadata
		switch found, err := g.get(ctx, address, &m); {
		case err != nil:
			return m, err
		case !found:
			continue
		case strings.TrimSuffix(m.Issuer, "/") != strings.TrimSuffix(issuer, "/"):
			return m, fmt.Errorf("the metadata of the authorization server %s are of the issuer %s, so they are not used",
				clean(issuer), clean(m.Issuer))
		}
		return m, nil
	}
	return issuerMetadata{}, fmt.Errorf("no login is offered: %w with metadata at %s", errNoLogin, clean(u.Host))
}

func issuerAddresses(u *url.URL) []string {
	path := strings.TrimSuffix(u.Path, "/")
	out := []string{withPath(u, issuerPath+path), withPath(u, openidPath+path)}
	if path != "" {
		out = append(out, withPath(u, path+openidPath))
	}
	return out
}

// check rejects metadata that a login cannot use.
func (d *discovery) check() error {
	m := &d.issuer
	if m.Challenges != nil && !slices.Contains(m.Challenges, "S256") {
		return fmt.Errorf("the authorization server %s does not support PKCE with S256, so no login is safe", clean(m.Issuer))
	}
	for name, address := range map[string]string{"authorization_endpoint": m.Authorize, "token_endpoint": m.Token} {
		if _, err := d.guard.check(address); err != nil {
			return fmt.Errorf("the %s of the authorization server %s cannot be used: %w", name, clean(m.Issuer), err)
		}
	}
	return nil
}

// get requests a JSON document. It returns false if there is none.
func (g *guard) get(ctx context.Context, address string, into any) (bool, error) {
	u, err := g.check(address)
	if err != nil {
		return false, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, errors.New("an address of the server is not valid")
	}
	r.Header.Set("Accept", "application/json")
	response, err := g.client(false).Do(r)
	if err != nil {
		return false, fmt.Errorf("%s: %w: %s", clean(u.Host), errUnreachable, clean(withoutAddress(err)))
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode >= 500:
		return false, fmt.Errorf("%s: %w: it answered with the status %d", clean(u.Host), errUnreachable, response.StatusCode)
	case response.StatusCode != http.StatusOK:
		return false, nil
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return false, fmt.Errorf("the metadata at %s cannot be read: %s", clean(u.Host), clean(err.Error()))
	}
	if protocol.Unmarshal(text, into) != nil {
		return false, nil // pages of web servers answer for any path
	}
	return true, nil
}
