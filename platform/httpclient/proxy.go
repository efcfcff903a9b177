package httpclient

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// proxies selects the proxies of requests.
type proxies struct {
	choose func(*url.URL) (*url.URL, error)
	// variables has the variable that names the proxy of a scheme. Problems has why it is invalid.
	variables map[string]string
	problems  map[string]error
	// addresses are those of the proxies for people, by the scheme of the requests.
	addresses map[string]string
}

// proxy is the proxy of a request.
type proxy struct {
	*url.URL
	variable string
}

// String returns the host and port, and the variable. It overrides that of the URL, which can have a password.
func (p *proxy) String() string { return p.Host + " of " + p.variable }

// schemes returns the protocols of proxies that net/http speaks.
func schemes() []string { return []string{"http", "https", "socks5", "socks5h"} }

// defaultPort returns the port of a proxy without one, as in net/http.
func defaultPort(scheme string) string {
	switch scheme {
	case "https":
		return "443"
	case "socks5", "socks5h":
		return "1080"
	}
	return "80"
}

func readProxies(getenv func(string) string) *proxies {
	p := &proxies{variables: map[string]string{}, problems: map[string]error{}, addresses: map[string]string{}}
	var c httpproxy.Config
	_, c.NoProxy = first(getenv, "NO_PROXY", "no_proxy")
	for _, s := range []struct {
		scheme string
		value  *string
		own    []string
	}{
		{"https", &c.HTTPSProxy, []string{"HTTPS_PROXY", "https_proxy"}},
		{"http", &c.HTTPProxy, httpVariables(getenv)},
	} {
		variable, value := first(getenv, append(s.own, "ALL_PROXY", "all_proxy")...)
		if variable == "" {
			continue
		}
		p.variables[s.scheme] = variable
		*s.value = "http://invalid" // so that NO_PROXY applies
		if u, ok := parseProxy(value); ok {
			*s.value = u.String()
			p.addresses[s.scheme] = u.Scheme + "://" + u.Host
		} else {
			p.problems[s.scheme] = &SetupError{variable, "is not the address of a proxy, which is SCHEME://HOST:PORT with " +
				strings.Join(schemes(), ", ") + " as SCHEME"}
		}
	}
	p.choose = c.ProxyFunc()
	return p
}

// httpVariables returns the variables with the proxy of http. In a program that a web server runs, a client can set
// HTTP_PROXY by a header.
func httpVariables(getenv func(string) string) []string {
	if getenv("REQUEST_METHOD") != "" {
		return []string{"http_proxy"}
	}
	return []string{"HTTP_PROXY", "http_proxy"}
}

// first returns the first variable with a value, and the value without surrounding white space.
func first(getenv func(string) string, names ...string) (name, value string) {
	for _, name := range names {
		if value := strings.TrimSpace(getenv(name)); value != "" {
			return name, value
		}
	}
	return "", ""
}

// Proxy describes the proxy of a scheme by the variable that names it.
type Proxy struct {
	Scheme, Variable string
	// Address is the scheme, host and port of the proxy, without a password. It is empty if Err is set.
	Address string
	// Err is why requests fail, or nil.
	Err error
}

// Proxies returns the proxies that the variables name, for people.
func (e *Environment) Proxies() (list []Proxy) {
	s := e.read()
	for _, scheme := range []string{"https", "http"} {
		variable, named := s.variables[scheme]
		if !named {
			continue
		}
		list = append(list, Proxy{scheme, variable, s.addresses[scheme], s.problems[scheme]})
	}
	return list
}

// parseProxy reads the address of a proxy. The scheme can be missing.
func parseProxy(value string) (*url.URL, bool) {
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	return u, err == nil && u.Hostname() != "" && slices.Contains(schemes(), u.Scheme)
}

// of returns the proxy of a request, or nil.
func (p *proxies) of(u *url.URL) (*proxy, error) {
	chosen, err := p.choose(u)
	if chosen == nil || err != nil {
		return nil, err
	}
	if err := p.problems[u.Scheme]; err != nil {
		return nil, err
	}
	return &proxy{chosen, p.variables[u.Scheme]}, nil
}

// connected returns an error if a proxy does not connect to the host of a request.
func connected(_ context.Context, at *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return refusedBy(at, answer)
}

func refusedBy(at *url.URL, answer *http.Response) *ProxyError {
	return &ProxyError{Proxy: at.Host, Status: answer.StatusCode,
		reason: fmt.Sprintf("status %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))}
}
