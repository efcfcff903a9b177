package apptest

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Proxy is a proxy that connects each host to a server of the test. It speaks HTTP with CONNECT, and SOCKS 5.
type Proxy struct {
	// Address has the host and the port.
	Address string
	// User is the wanted user and password, as USER:PASSWORD, or empty. It is set before the first request.
	User string
	// Refuse is the status, or the reply of SOCKS, for all requests, or 0.
	Refuse int

	mu    sync.Mutex
	hosts map[string]string
	asked []string
}

// NewProxy starts a proxy. The names of hosts have the addresses of their servers.
func NewProxy(t testing.TB, hosts map[string]string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &Proxy{Address: l.Addr().String(), hosts: hosts}
	var serving sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[conn] = true
			mu.Unlock()
			serving.Go(func() {
				defer conn.Close()
				p.serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		serving.Wait()
	})
	return p
}

// Asked returns the hosts and ports that clients wanted.
func (p *Proxy) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.asked...)
}

func (p *Proxy) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	first, err := in.Peek(1)
	switch {
	case err != nil:
	case first[0] == socksVersion:
		p.serveSocks(conn, in)
	default:
		p.serveHTTP(conn, in)
	}
}

// connect opens the connection to a host and port.
func (p *Proxy) connect(address string) (net.Conn, error) {
	p.mu.Lock()
	p.asked = append(p.asked, address)
	p.mu.Unlock()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	at, known := p.hosts[host]
	if !known {
		return nil, errors.New("unknown host " + host)
	}
	return net.Dial("tcp", at)
}

func (p *Proxy) serveHTTP(conn net.Conn, in *bufio.Reader) {
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		want := "Basic " + base64.StdEncoding.EncodeToString([]byte(p.User))
		status := p.Refuse
		if p.User != "" && r.Header.Get("Proxy-Authorization") != want {
			status = http.StatusProxyAuthRequired
		}
		address := r.Host
		if _, _, err := net.SplitHostPort(address); err != nil {
			address = net.JoinHostPort(address, "80")
		}
		var to net.Conn
		if status == 0 {
			if to, err = p.connect(address); err != nil {
				status = http.StatusBadGateway
			}
		}
		if status != 0 {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(conn, "HTTP/1.1 "+strconv.Itoa(status)+" Refused\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		if r.Method == http.MethodConnect {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 Connected\r\n\r\n")
			relay(conn, in, to)
			return
		}
		r.Header.Del("Proxy-Authorization")
		r.Close = true
		_ = r.Write(to)
		_, _ = io.Copy(conn, to)
		_ = to.Close()
		return
	}
}

// relay copies in both directions until both ends are closed.
func relay(conn net.Conn, in io.Reader, to net.Conn) {
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(conn, to)
		_ = conn.Close()
	})
	_, _ = io.Copy(to, in)
	_ = to.Close()
	back.Wait()
}

// The bytes of RFC 1928 and RFC 1929.
const (
	socksVersion      = 5
	socksNoMethod     = 0xFF
	socksPassword     = 2
	socksDomain       = 3
	socksIPv4         = 1
	socksNotPermitted = 2
)

func (p *Proxy) serveSocks(conn net.Conn, in *bufio.Reader) {
	methods, err := readSized(in, 1)
	if err != nil {
		return
	}
	method := byte(0)
	if p.User != "" {
		method = socksPassword
	}
	if !bytes.Contains(methods, []byte{method}) {
		_, _ = conn.Write([]byte{socksVersion, socksNoMethod})
		return
	}
	_, _ = conn.Write([]byte{socksVersion, method})
	if p.User != "" && !p.admit(conn, in) {
		return
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(in, head); err != nil {
		return
	}
	host, err := readHost(in, head[3])
	port := make([]byte, 2)
	if _, wrong := io.ReadFull(in, port); err != nil || wrong != nil {
		return
	}
	reply := byte(p.Refuse)
	to, err := p.connect(net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(port)))))
	if err != nil && reply == 0 {
		reply = socksNotPermitted
	}
	_, _ = conn.Write([]byte{socksVersion, reply, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
	if reply == 0 {
		relay(conn, in, to)
	} else if to != nil {
		_ = to.Close()
	}
}

// admit reads a user and a password.
func (p *Proxy) admit(conn net.Conn, in *bufio.Reader) bool {
	user, err := readSized(in, 1)
	password, wrong := readSized(in, 0)
	ok := err == nil && wrong == nil && string(user)+":"+string(password) == p.User
	status := byte(1)
	if ok {
		status = 0
	}
	_, _ = conn.Write([]byte{1, status})
	return ok
}

// readSized skips bytes, and reads a length and that many bytes.
func readSized(in *bufio.Reader, skip int) ([]byte, error) {
	if _, err := in.Discard(skip); err != nil {
		return nil, err
	}
	n, err := in.ReadByte()
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(in, b)
	return b, err
}

func readHost(in *bufio.Reader, kind byte) (string, error) {
	if kind == socksDomain {
		name, err := readSized(in, 0)
		return string(name), err
	}
	ip := make([]byte, net.IPv4len)
	_, err := io.ReadFull(in, ip)
	return net.IP(ip).String(), err
}

// ServeTLS starts a server with a certificate of the authority for a host name. It returns the address.
func (a *Authority) ServeTLS(t testing.TB, host string, handler http.Handler) (address string) {
	t.Helper()
	cert, key := a.Issue(t, host, -hour, hour)
	s := httptest.NewUnstartedServer(handler)
	s.TLS = pairOf(t, cert, key)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}
