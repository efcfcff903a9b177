package listen

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
)

// Address is an address to listen on. Exactly one field is set.
type Address struct {
	// Path is the path of a Unix socket.
	Path string
	// Port is an IP address and port. Port number 0 selects a free port.
	Port netip.AddrPort
}

const (
	schemeUnix = "unix://"
	schemeWS   = "ws://"
	schemeWSS  = "wss://"
)

// Parse parses the --listen URLs unix://, unix://PATH and ws://IP:PORT. unix:// without a path
// is the control socket in home, where clients look by default.
func Parse(url, home string) (Address, error) {
	if path, ok := strings.CutPrefix(url, schemeUnix); ok {
		return parseUnix(path, home)
	}
	host, ok := strings.CutPrefix(url, schemeWS)
	if !ok {
		return Address{}, fmt.Errorf(
			"unsupported --listen URL %q; expected stdio://, unix://, unix://PATH or ws://IP:PORT",
			url,
		)
	}
	port, err := netip.ParseAddrPort(strings.TrimSuffix(host, "/"))
	if err != nil {
		return Address{}, fmt.Errorf("invalid websocket --listen URL %q; expected ws://IP:PORT", url)
	}
	return Address{Port: port}, nil
}

// IsLocal reports whether only programs of this machine can reach the address.
func (a Address) IsLocal() bool { return a.Path != "" || a.Port.Addr().IsLoopback() }

func parseUnix(path, home string) (Address, error) {
	if path == "" {
		path = filepath.Join(ControlDir(home), "app-server-control.sock")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return Address{}, err
	}
	if max(len(path), len(filepath.Dir(path))+tempNameLen) > maxSocketPath {
		return Address{}, fmt.Errorf("socket path %s is too long: use one of at most %d bytes", path, maxSocketPath)
	}
	return Address{Path: path}, nil
}

// ControlDir returns the folder in home that holds the control socket and the token.
func ControlDir(home string) string { return filepath.Join(home, "app-server-control") }

// sharedPrefix begins the names of the sockets of servers that clients share.
const sharedPrefix = "shared-"

// SharedPath returns the path of the socket of a server that clients share, by a key of letters and digits.
func SharedPath(home, key string) string {
	return filepath.Join(ControlDir(home), sharedPrefix+key+".sock")
}

// SharedPaths returns the sockets of such servers in home. Some may have ended.
func SharedPaths(home string) []string {
	paths, _ := filepath.Glob(filepath.Join(ControlDir(home), sharedPrefix+"*.sock")) // a bad pattern matches nothing
	return paths
}
