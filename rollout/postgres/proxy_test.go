package postgres

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy passes connections on to a server, and cuts them on request.
type proxy struct {
	t        testing.TB
	listener net.Listener
	target   string
	mu       sync.Mutex
	open     map[net.Conn]bool
	// cut decides about the answers of the server. It returns true to close both sides of the
	// connection instead of passing the answer on.
	cut func(request []byte) bool
	// refuses is set to close new connections.
	refuses bool
	// accepted is the number of connections.
	accepted int
	all      sync.WaitGroup
}

func newProxy(t testing.TB, socket string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{t: t, listener: listener, target: socket, open: map[net.Conn]bool{}}
	p.all.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.closeAll()
		p.all.Wait()
	})
	return p
}

// through returns the URL of a database with the proxy as host.
func (p *proxy) through(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.Host, u.RawQuery = p.listener.Addr().String(), "sslmode=disable"
	return u.String()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.accepted++
		refuses := p.refuses
		p.mu.Unlock()
		server, err := net.Dial("unix", p.target)
		if refuses || err != nil {
			_ = client.Close()
			continue
		}
		c := &proxied{proxy: p, client: client, server: server}
		p.mu.Lock()
		p.open[client], p.open[server] = true, true
		p.mu.Unlock()
		p.all.Go(c.requests)
		p.all.Go(c.answers)
	}
}

// closeAll cuts all connections.
func (p *proxy) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		_ = c.Close()
	}
}

// cutAfter cuts the first n connections on which the server answers a request with the text. If
// refuses is set, it also refuses new connections.
func (p *proxy) cutAfter(n int, text string, refuses bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = func(request []byte) bool {
		if n == 0 || !bytes.Contains(request, []byte(text)) {
			return false
		}
		n--
		p.refuses = refuses
		return true
	}
}

func (p *proxy) admit() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = false
}

func (p *proxy) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// proxied is a connection through the proxy.
type proxied struct {
	*proxy
	client, server net.Conn
	mu             sync.Mutex
	request        []byte
}

func (c *proxied) close() {
	_ = c.client.Close()
	_ = c.server.Close()
}

func (c *proxied) requests() {
	defer c.close()
	_, _ = io.Copy(c.server, io.TeeReader(c.client, c))
}

// Write remembers a request.
func (c *proxied) Write(part []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.request = append(c.request, part...)
	return len(part), nil
}

func (c *proxied) answers() {
	defer c.close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := c.server.Read(buffer)
		if err != nil || c.isCut() {
			return
		}
		if _, err := c.client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// isCut reports whether the answer of the present request is to be lost.
func (c *proxied) isCut() bool {
	c.mu.Lock()
	request := c.request
	c.request = nil
	c.mu.Unlock()
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	return c.cut != nil && c.cut(request)
}
