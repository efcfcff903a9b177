package login

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"appserver/platform/httpclient"
)

const (
	// requestTime bounds a request to an authorization server.
	requestTime = 20 * time.Second
	// maxRedirects bounds the redirects of a request without credentials.
	maxRedirects = 3
	// maxBody bounds a response, in bytes.
	maxBody = 1 << 20
)

// guard decides which addresses an MCP server can send this program to.
type guard struct {
	// host is the host of the MCP server, and local reports whether it is a loopback address.
	host  string
	local bool
	base  *httpclient.Transport
}

// guardOf returns the guard of a server. Its address must use https, or be a loopback address.
func (l *Logins) guardOf(s Server) (*guard, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the address of the MCP server `%s` is not valid", s.Name)
	}
	g := &guard{host: strings.ToLower(u.Hostname()), local: isLoopback(u.Hostname()), base: l.HTTP}
	if u.Scheme != "https" && !(g.local && u.Scheme == "http") {
		return nil, fmt.Errorf("the MCP server `%s` does not use https, so tokens are not sent to it: correct its url", s.Name)
	}
	return g, nil
}

func isLoopback(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// check rejects an address that cannot be requested or opened, by its text.
func (g *guard) check(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return nil, errors.New("an address of the server is not valid")
	case u.User != nil:
		return nil, fmt.Errorf("the address of %s has a user name", clean(u.Host))
	case u.Scheme == "https", u.Scheme == "http" && g.local && isLoopback(u.Hostname()):
	default:
		return nil, fmt.Errorf("the address %s does not use https", clean(u.Scheme+"://"+u.Host))
	}
	if g.trusts(u.Hostname()) {
		return u, nil
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if isLoopback(u.Hostname()) || err == nil && isInternal(ip) {
		return nil, errInternal(u.Hostname())
	}
	return u, nil
}

// trusts reports whether a host can have any address.
func (g *guard) trusts(host string) bool {
	return strings.EqualFold(host, g.host) || g.local && isLoopback(host)
}

func errInternal(host string) error {
	return fmt.Errorf("the server names %s, which is a loopback, private or link-local address", clean(host))
}

// client returns a client for requests that follow the rules. Requests with credentials follow no redirects.
func (g *guard) client(credentials bool) *http.Client {
	check := func(r *http.Request, via []*http.Request) error {
		if credentials {
			return http.ErrUseLastResponse
		}
		if len(via) > maxRedirects || !sameOrigin(r.URL, via[0].URL) {
			return fmt.Errorf("it redirects to %s", clean(r.URL.Host))
		}
		return nil
	}
	return &http.Client{Transport: g, Timeout: requestTime, CheckRedirect: check}
}

// RoundTrip sends a request if its address can be requested.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := g.check(r.URL.String()); err != nil {
		return nil, err
	}
	next := g.base
	if !g.trusts(r.URL.Hostname()) && next.Via(r.URL) == "" { // a proxy resolves the host itself
		next = next.Dialing(dialPublic)
	}
	response, err := next.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxBody)
	}
	return response, err
}

// dialPublic connects to addresses of the internet only. It checks the address after the name is resolved.
func dialPublic(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: requestTime, Control: func(_, resolved string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(resolved)
		if err != nil || isInternal(at.Addr()) {
			host, _, _ := net.SplitHostPort(address)
			return errInternal(host)
		}
		return nil
	}}
	return d.DialContext(ctx, network, address)
}

// internalRanges returns ranges that netip does not classify: this network, shared address space of providers, and
// addresses that translate to IPv4.
func internalRanges() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
		netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"),
		netip.MustParsePrefix("fec0::/10")}
}

func isInternal(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsValid() || ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsMulticast() ||
		ip.IsUnspecified() {
		return true
	}
	for _, r := range internalRanges() {
		if r.Contains(ip) {
			return true
		}
	}
	return false
}

// withoutAddress returns the text of an error of a request without its address, whose query may be secret.
func withoutAddress(err error) string {
	if request := new(url.Error); errors.As(err, &request) {
		return request.Err.Error()
	}
	return err.Error()
}
