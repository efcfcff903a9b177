package login

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"appserver/platform/callback"
)

// port is the port of this machine that the browser returns to.
type port struct {
	*callback.Port
	redirect, path string
}

// listen opens the port on 127.0.0.1. Without an issuer in responses, the path has an id of the server, so that
// responses of another authorization server do not reach it.
func listen(s Server, namesIssuer bool) (*port, error) {
	u := &url.URL{Scheme: "http", Host: "127.0.0.1", Path: "/callback"}
	number := s.CallbackPort
	if s.CallbackURL != "" {
		var err error
		if u, err = parseCallback(s.CallbackURL); err != nil {
			return nil, err
		}
		if u.Scheme == "http" && s.CallbackPort == 0 && u.Port() != "" {
			number, _ = strconv.Atoi(u.Port()) // url.Parse has checked it
		}
	}
	opened, err := callback.Listen(number)
	if err != nil {
		return nil, fmt.Errorf("the port %d of 127.0.0.1 for the browser cannot be opened: end the program that uses it, or set another mcp_oauth_callback_port: %w",
			number, err)
	}
	if u.Scheme == "http" && u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), opened.Number())
	}
	if !s.ExactCallback && (s.CallbackURL != "" || !namesIssuer) {
		u.Path = strings.TrimSuffix(u.Path, "/") + "/" + callbackID(s.URL)
	}
	return &port{opened, u.String(), u.Path}, nil
}

// CallbackURL returns the address to register at an authorization server for a client of this program. Authorization
// servers accept any port of a loopback address.
func CallbackURL(address string) string { return "http://127.0.0.1/callback/" + callbackID(address) }

// parseCallback returns the configured address for the browser.
func parseCallback(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" ||
		u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) {
		return nil, errors.New("the configured callback URL must use https, or http with a loopback address")
	}
	return u, nil
}

// callbackID returns the id of a server in the path, as the reference implementation has it.
func callbackID(address string) string {
	if u, err := url.Parse(address); err == nil {
		if u.Path == "" {
			u.Path = "/"
		}
		u.Fragment = ""
		address = u.String()
	}
	sum := sha256.Sum256([]byte(address))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// serve answers browsers until the port is closed.
func (p *port) serve(a *Attempt) {
	p.Serve(p.path, func(q url.Values) callback.Page {
		switch err := a.accept(q); {
		case errors.Is(err, errNotOurs):
			return callback.Page{Status: http.StatusBadRequest,
				Text: "This page does not belong to a login that waits. Start the login again."}
		case err != nil:
			return callback.Page{Status: http.StatusBadRequest,
				Text: "The login failed. The program that began it shows the reason. You can close this page."}
		}
		return callback.Page{Status: http.StatusOK, Text: "The login is complete. You can close this page."}
	})
}
