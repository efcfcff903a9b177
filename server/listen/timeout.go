package listen

import (
	"net"
	"sync/atomic"
	"time"
)

// timeoutListener accepts connections with timeouts. It overrides Accept.
type timeoutListener struct {
	net.Listener
	write, silence time.Duration
	handshakes     *handshakes
}

// Accept returns the next connection.
func (l timeoutListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	t := &timeoutConn{Conn: c, write: l.write, silence: l.silence, handshakes: l.handshakes}
	l.handshakes.begin(t)
	return t, nil
}

// timeoutConn is a connection with a write timeout per chunk, and a limit of silence. net/http and
// the WebSocket library limit the time of whole messages, which may be large. It overrides Read, Write and Close.
type timeoutConn struct {
	net.Conn
	write, silence time.Duration
	// isOpen is set after the handshake, which has limits of its own.
	isOpen atomic.Bool
	// writes counts the beginnings and the ends of calls of Write, so it is odd during one.
	writes atomic.Int64
	// handshakes has the connection until it is a client's.
	handshakes *handshakes
}

// Close closes the connection.
func (c *timeoutConn) Close() error {
	c.handshakes.end(c)
	return c.Conn.Close()
}

// Read waits at most for the time of silence. The time in which nothing is read does not count.
func (c *timeoutConn) Read(p []byte) (int, error) {
	if c.silence > 0 && c.isOpen.Load() {
		if err := c.SetReadDeadline(time.Now().Add(c.silence)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Read(p)
}

// chunkBytes is the number of bytes that a client must read within the write timeout.
const chunkBytes = 64 << 10

// Write writes p in chunks, each with the timeout.
func (c *timeoutConn) Write(p []byte) (n int, err error) {
	c.writes.Add(1)
	defer c.writes.Add(1)
	for n < len(p) || n == 0 {
		piece := p[n:min(len(p), n+chunkBytes)]
		if err := c.SetWriteDeadline(time.Now().Add(c.write)); err != nil {
			return n, err
		}
		written, err := c.Conn.Write(piece)
		n += written
		if err != nil || len(p) == 0 {
			return n, err
		}
	}
	return n, nil
}
