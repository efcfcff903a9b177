package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// httpPort is the port that browsers leave out of Host and Origin.
const httpPort = 80

// guard rejects requests of other web pages.
type guard struct {
	// own is the Host of the address that the server listens on. No other program can listen there.
	own string
	// names are the allowed values of Host without a port.
	names []string
}

// newGuard allows the address of the page, and the usual names of the loopback interface.
func newGuard(at netip.AddrPort) guard {
	var g guard
	for _, name := range []string{at.Addr().String(), "127.0.0.1", "::1", "localhost"} {
		name = strings.TrimSuffix(net.JoinHostPort(name, ""), ":")
		if !slices.Contains(g.names, name) {
			g.names = append(g.names, name)
		}
	}
	g.own = g.names[0]
	if at.Port() != httpPort {
		g.own += ":" + strconv.Itoa(int(at.Port()))
	}
	return g
}

// allows reports whether a Host names the loopback interface, with any port. The port differs from that of the server
// if the request came through a tunnel.
func (g guard) allows(host string) bool {
	return slices.ContainsFunc(g.names, func(name string) bool {
		text, found := strings.CutPrefix(host, name+":")
		port, err := strconv.ParseUint(text, 10, 16)
		return host == name || found && err == nil && port != 0 && port != httpPort && strconv.FormatUint(port, 10) == text
	})
}

// check returns the status and the cause of a rejection, or nil.
func (g guard) check(r *http.Request) (status int, err error) {
	if !g.allows(r.Host) {
		return http.StatusMisdirectedRequest, fmt.Errorf("this server has no such host: open http://%s, "+
			"or through a tunnel http://127.0.0.1 with the port of this side", g.own)
	}
	// The page is always loaded from the host that it calls, so other allowed hosts are foreign.
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+r.Host {
			return http.StatusForbidden, errors.New("requests of other web pages are rejected")
		}
	}
	return 0, nil
}

// setHeaders sets the headers of every response.
func (g guard) setHeaders(h http.Header, host string) {
	if !g.allows(host) {
		host = g.own // never repeat the text of a request
	}
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws://"+
		host+"; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "+
		"require-trusted-types-for 'script'; trusted-types 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY") // for programs that ignore frame-ancestors
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// allow reports whether the request has one of the methods, or answers it with 405.
func allow(w http.ResponseWriter, r *http.Request, methods ...string) bool {
	if slices.Contains(methods, r.Method) {
		return true
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	return false
}
