package web

import (
	"fmt"
	"net/netip"
	"strings"
	"syscall"

	"appserver/platform/osfile"
	"appserver/server/listen"
)

const (
	// DefaultPort is the port of an address without one. It is not registered, and below the ports that systems give to
	// connections. Browsers store drafts and keys by port, so it stays the same.
	DefaultPort = 20510
	// fallbackPorts is the number of ports that are tried, before a free one is chosen.
	fallbackPorts = 10
)

// Address is a loopback address of a page.
type Address struct {
	netip.AddrPort
	// Fallback permits other ports if the port is taken.
	Fallback bool
}

// DefaultAddress returns the address of a page that nobody has chosen.
func DefaultAddress() Address { return withDefaultPort(netip.AddrFrom4([4]byte{127, 0, 0, 1})) }

func withDefaultPort(ip netip.Addr) Address {
	return Address{netip.AddrPortFrom(ip, DefaultPort), true}
}

// String overrides the method of AddrPort. It returns a text that ParseAddress accepts.
func (a Address) String() string {
	if a.Fallback {
		return a.Addr().String()
	}
	return a.AddrPort.String()
}

// ParseAddress parses IP:PORT, or IP for the default port. The address must be a loopback address.
func ParseAddress(text string) (Address, error) {
	at, err := netip.ParseAddrPort(text)
	a := Address{AddrPort: at}
	if err != nil {
		if ip, ipErr := parseIP(text); ipErr == nil {
			a, err = withDefaultPort(ip), nil
		}
	}
	switch {
	case err != nil || a.Addr().Zone() != "":
		return a, fmt.Errorf("invalid address %q of the page; expected IP:PORT or IP, for example 127.0.0.1:4500", text)
	case !a.Addr().IsLoopback():
		return a, fmt.Errorf(
			"refusing to serve the page on %s: other machines can reach it; use 127.0.0.1:PORT and an SSH tunnel", a)
	}
	a.AddrPort = netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
	return a, nil
}

// parseIP parses an address without a port. One of IPv6 may have brackets.
func parseIP(text string) (netip.Addr, error) {
	inner, opened := strings.CutPrefix(text, "[")
	if inner, closed := strings.CutSuffix(inner, "]"); opened && closed && strings.Contains(inner, ":") {
		text = inner
	}
	return netip.ParseAddr(text)
}

// bind binds the address, or with Fallback one of the next ports, or any. Each failure counts as a taken port, because
// Windows reports reserved ports as forbidden.
func (a Address) bind(o listen.Options) (*listen.Listener, error) {
	o.Address = listen.Address{Port: a.AddrPort}
	l, err := listen.New(o)
	for i := 1; err != nil && a.Fallback && i <= fallbackPorts; i++ {
		port := a.Port() + uint16(i)
		if i == fallbackPorts {
			port = 0
		}
		o.Address.Port = netip.AddrPortFrom(a.Addr(), port)
		l, err = listen.New(o)
	}
	if osfile.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%s is used by another program: choose another port, or port 0 for a free one", a)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot serve the page: %w", err)
	}
	return l, nil
}
