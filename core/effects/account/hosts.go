package account

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// vendorDomains are the domains of the vendor. Hosts below them are the vendor's as well.
var vendorDomains = []string{"openai.com", "chatgpt.com"}

// Hosts are hosts that the user permits to get the credentials of the account, beside those of the vendor. Each is a
// host, or a host and a port; without a port it is that of https. A proxy is named by its host and port.
type Hosts []string

// Setting is the key of the configuration with the hosts.
const Setting = "account_hosts"

// splitHost returns the host in lower case, and the port, which is that of https by default.
func splitHost(text string) (host, port string) {
	host, port = text, "443"
	if h, p, err := net.SplitHostPort(text); err == nil {
		host, port = h, p
	}
	return strings.ToLower(strings.Trim(strings.TrimSuffix(host, "."), "[]")), port
}

// hostOf returns the host and the port of a URL.
func hostOf(u *url.URL) (host, port string) {
	host, port = splitHost(u.Host)
	if u.Port() == "" && u.Scheme == "http" {
		port = "80"
	}
	return host, port
}

func (h Hosts) has(host, port string) bool {
	return slices.ContainsFunc(h, func(text string) bool {
		allowed, at := splitHost(text)
		return allowed == host && at == port
	})
}

// HostError means that credentials are not sent to a host.
type HostError struct{ text string }

// Error returns the host, the reason and the setting that permits it.
func (e *HostError) Error() string { return e.text }

// NeedsUser reports that another request fails in the same way.
func (e *HostError) NeedsUser() bool { return true }

// check rejects an address that gets no credentials.
func (h Hosts) check(u *url.URL) error {
	host, port := hostOf(u)
	named := h.has(host, port)
	switch {
	case u.Host == "" || u.User != nil || u.Opaque != "":
		return &HostError{"an address for the account is not valid: correct it in config.toml"}
	case u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(host)):
		return &HostError{fmt.Sprintf("the login of the account is not sent to %s://%s, because it does not use https",
			shown(u.Scheme), shown(u.Host))}
	case named, u.Scheme == "https" && port == "443" && isVendors(host):
		return nil
	}
	return &HostError{fmt.Sprintf("the login of the account is not sent to %s, which is no host of its vendor: if you trust "+
		"it, add %q to %s in your config.toml", shown(u.Host), net.JoinHostPort(shown(host), port), Setting)}
}

// checkProxy rejects a proxy that the user has not permitted. It is a host and a port, or "".
func (h Hosts) checkProxy(proxy, variable string) error {
	if proxy == "" {
		return nil
	}
	host, port := splitHost(proxy)
	if h.has(host, port) {
		return nil
	}
	return &HostError{fmt.Sprintf("the login of the account is not sent through the proxy %s of %s: if you trust it, add %q "+
		"to %s in your config.toml, or name the host of the request in NO_PROXY", shown(proxy), variable,
		net.JoinHostPort(shown(host), port), Setting)}
}

func isVendors(host string) bool {
	return slices.ContainsFunc(vendorDomains, func(domain string) bool {
		return host == domain || strings.HasSuffix(host, "."+domain)
	})
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// errAddress means that an address cannot be read. It has no part of the address, which may have a secret.
func errAddress() error {
	return &HostError{"an address for the account is not valid: correct it, or sign in again"}
}

// permit rejects an address, or the proxy of requests to it, that gets no credentials.
func (a *Account) permit(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errAddress()
	}
	hosts := a.Rules().Hosts
	if err := hosts.check(u); err != nil {
		return nil, err
	}
	proxy, variable, err := a.HTTP.ProxyOf(u)
	if err != nil {
		return nil, err
	}
	return u, hosts.checkProxy(proxy, variable)
}
