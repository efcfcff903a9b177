package login

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// closeTime bounds the time to close the port.
const closeTime = time.Second

// callback is the port of this machine that the browser returns to.
type callback struct {
	redirect string
	path     string
	listener net.Listener
	server   *http.Server
}

// listen opens the port on 127.0.0.1. Without an issuer in responses, the path has an id of the server, so that
// responses of another authorization server do not reach it.
func listen(s Server, namesIssuer bool) (*callback, error) {
	u := &url.URL{Scheme: "http", Host: "127.0.0.1", Path: "/callback"}
	port := strconv.Itoa(s.CallbackPort)
	if s.CallbackURL != "" {
		var err error
		if u, err = parseCallback(s.CallbackURL); err != nil {
			return nil, err
		}
		if u.Scheme == "http" && s.CallbackPort == 0 && u.Port() != "" {
			port = u.Port()
		}
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return nil, fmt.Errorf("the port %s of 127.0.0.1 for the browser cannot be opened: end the program that uses it, or set another mcp_oauth_callback_port: %w",
			port, plainCause(err))
	}
	if u.Scheme == "http" && u.Port() == "" {
		_, opened, _ := net.SplitHostPort(listener.Addr().String()) // it has a port
		u.Host = net.JoinHostPort(u.Hostname(), opened)
	}
	if !s.ExactCallback && (s.CallbackURL != "" || !namesIssuer) {
		u.Path = strings.TrimSuffix(u.Path, "/") + "/" + callbackID(s.URL)
	}
	return &callback{redirect: u.String(), path: u.Path, listener: listener}, nil
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

// plainCause returns the error of the system, without the address.
func plainCause(err error) error {
	if cause := new(net.OpError); errors.As(err, &cause) {
		return cause.Err
	}
	return err
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

// serve answers browsers in other goroutines until the port is closed.
func (c *callback) serve(a *Attempt) {
	c.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.Path != c.path {
				page(w, http.StatusNotFound, "There is nothing here.")
				return
			}
			switch err := a.accept(r.URL.Query()); {
			case errors.Is(err, errNotOurs):
				page(w, http.StatusBadRequest, "This page does not belong to a login that waits. Start the login again.")
			case err != nil:
				page(w, http.StatusBadRequest, "The login failed. The program that began it shows the reason. You can close this page.")
			default:
				page(w, http.StatusOK, "The login is complete. You can close this page.")
			}
		})}
	go func() { _ = c.server.Serve(c.listener) }()
}

// close closes the port. It waits a moment until the browser has its page.
func (c *callback) close() {
	if c.server == nil {
		_ = c.listener.Close()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close()
	}
}

// page sends a fixed text. Nothing of the request is in it.
func page(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!doctype html><meta charset=utf-8><title>appserver</title><p>%s</p>\n", text)
}
