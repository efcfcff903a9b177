package providerkey

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Origin is the scheme, the host and the port of an address, such as https://api.example.com.
type Origin string

// errAddress is the error for an address without an origin. It has no part of the address.
var errAddress = errors.New("the provider has no address of http or https: set its base_url")

// OriginOf returns the origin of an address. A port that is that of the scheme is left out.
func OriginOf(address string) (Origin, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errAddress
	}
	host, port := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	switch {
	case port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme]:
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return Origin(u.Scheme + "://" + host), nil
}

// IsOpen reports whether requests to the origin can be read on the way: they have no encryption, and leave the machine.
func (o Origin) IsOpen() bool {
	u, err := url.Parse(string(o))
	if err != nil || u.Scheme != "http" {
		return false
	}
	if host := u.Hostname(); host != "localhost" {
		address, err := netip.ParseAddr(host)
		return err != nil || !address.Unmap().IsLoopback()
	}
	return false
}
