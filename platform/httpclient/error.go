package httpclient

import (
	"fmt"
	"net/http"
	"strings"
)

// SetupError is a variable of the environment that cannot be used. Its text has no secret.
type SetupError struct{ variable, problem string }

// Error returns a message with the variable.
func (e *SetupError) Error() string {
	return fmt.Sprintf("the environment variable %s %s", e.variable, e.problem)
}

// Advice returns the next action.
func (e *SetupError) Advice() string { return "correct or unset it, and start the server again" }

// Temporary reports that another request fails in the same way.
func (e *SetupError) Temporary() bool { return false }

// ProxyError is a proxy that cannot be reached, or that did not connect to the host of a request.
type ProxyError struct {
	// Proxy has the host and the port. Variable is the variable of the environment that names the proxy.
	Proxy, Variable string
	// Status is the HTTP status of the proxy, or 0.
	Status int
	reason string
	err    error
}

// Error returns a message with the proxy and the reason.
func (e *ProxyError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("the proxy %s of %s refused the connection with %s", e.Proxy, e.Variable, e.reason)
	}
	return fmt.Sprintf("the proxy %s of %s failed: %s", e.Proxy, e.Variable, e.reason)
}

// Unwrap returns the error of the connection to the proxy, or nil.
func (e *ProxyError) Unwrap() error { return e.err }

// Advice returns the next action.
func (e *ProxyError) Advice() string {
	switch {
	case e.Status == http.StatusProxyAuthRequired:
		return "check the user and the password in " + e.Variable
	case e.Status != 0:
		return "check whether the proxy permits this host, or name the host in NO_PROXY"
	case strings.HasPrefix(e.reason, "socks"):
		return "check " + e.Variable + ", and whether the proxy permits this host"
	}
	return "check " + e.Variable + " and that the proxy is running"
}

// Temporary reports whether another request may succeed.
func (e *ProxyError) Temporary() bool {
	return e.Status < 400 || e.Status > 499 || e.Status == http.StatusRequestTimeout ||
		e.Status == http.StatusTooManyRequests
}
