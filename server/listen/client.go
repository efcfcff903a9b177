package listen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"appserver/protocol"
)

const (
	// maxMessage is the length of the longest message of a client, in bytes.
	maxMessage = 64 << 20
	// frameBytes is the length of the longest frame.
	frameBytes = 16 << 20
	// keptBuffer is the largest buffer that is kept after the message that made it grow.
	maxRetainedBuffer = 1 << 20
)

// Client is one connection: it reads in one goroutine, and writes in one.
type Client struct {
	ws  *websocket.Conn
	buf bytes.Buffer
	// left is set once the client has closed its end.
	disconnected atomic.Bool
}

// Next is the next message, valid until the next call. A *protocol.Error tells what is
// wrong with one that cannot be read.
func (c *Client) Next() ([]byte, error) {
	if c.buf.Cap() > maxRetainedBuffer { // before it waits, which may be long
		c.buf = bytes.Buffer{}
	}
	kind, message, err := c.ws.Reader(context.Background())
	if err != nil {
		return nil, c.closeError(err)
	}
	c.buf.Reset()
	if kind != websocket.MessageText {
		return nil, c.skip(message, "a binary message; messages are text")
	}
	n, err := c.buf.ReadFrom(io.LimitReader(message, maxMessage+1))
	switch {
	case err != nil:
		return nil, c.closeError(err)
	case n > maxMessage:
		return nil, c.skip(message, fmt.Sprintf("a message of more than %d bytes", maxMessage))
	}
	return c.buf.Bytes(), nil
}

// skip passes over the rest of a message that is refused.
func (c *Client) skip(message io.Reader, reason string) error {
	if _, err := io.Copy(io.Discard, message); err != nil {
		return c.closeError(err)
	}
	return protocol.Refuse(protocol.KindInvalidRequest, "Invalid request: %s", reason)
}

// Write sends each line as a message.
func (c *Client) Write(lines []byte) (int, error) {
	for line := range bytes.Lines(lines) {
		if err := c.send(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return 0, c.closeError(err)
		}
	}
	return len(lines), nil
}

func (c *Client) send(message []byte) error {
	if len(message) <= frameBytes {
		return c.ws.Write(context.Background(), websocket.MessageText, message)
	}
	w, err := c.ws.Writer(context.Background(), websocket.MessageText)
	if err != nil {
		return err
	}
	for len(message) > 0 {
		n := min(len(message), frameBytes)
		if _, err := w.Write(message[:n]); err != nil {
			return err
		}
		message = message[n:]
	}
	return w.Close()
}

// end is io.EOF where the client has left, in whatever manner.
func (c *Client) closeError(err error) error {
	gone := websocket.CloseStatus(err) != -1
	for _, e := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE} {
		gone = gone || errors.Is(err, e)
	}
	if !gone {
		return err
	}
	c.disconnected.Store(true)
	return io.EOF
}

// close ends the connection, and says so to a client that is there. It waits for the
// client to say so, too, but not for long.
func (c *Client) close(raw net.Conn) {
	if c.disconnected.Load() {
		_ = c.ws.CloseNow()
		return
	}
	impatience := time.AfterFunc(closeTimeout, func() { _ = raw.Close() })
	defer impatience.Stop()
	_ = c.ws.Close(websocket.StatusGoingAway, "the server has ended the connection")
}

// patientListener accepts connections whose writes fail once nothing of them was taken
// for a while. net/http and WebSocket have limits for the whole of a message only.
type timeoutListener struct {
	net.Listener
	timeout time.Duration
}

// Accept is the next connection.
func (l timeoutListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return timeoutConn{c, l.timeout}, nil
}

type timeoutConn struct {
	net.Conn
	timeout time.Duration
}

// pieceBytes is what has to be taken at least, in the time of patience.
const chunkBytes = 64 << 10

// Write writes piece by piece.
func (c timeoutConn) Write(p []byte) (n int, err error) {
	for n < len(p) || n == 0 {
		piece := p[n:min(len(p), n+chunkBytes)]
		if err := c.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
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
