package listen

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"appserver/core/osfile"
	"appserver/protocol"
)

const (
	// maxMessage is the default of Options.MaxMessage, in bytes.
	maxMessage = 64 << 20
	// frameBytes is the maximum length of a frame, in bytes.
	frameBytes = 16 << 20
	// maxRetainedBuffer is the size above which the read buffer is freed, in bytes.
	maxRetainedBuffer = 1 << 20
)

// Client is one WebSocket connection, accepted or dialed. It implements server.Transport. One
// goroutine may read while another one writes.
type Client struct {
	ws *websocket.Conn
	// raw is the connection below WebSocket and TLS.
	raw net.Conn
	buf bytes.Buffer
	// limit is the maximum length of a received message, in bytes.
	limit int
	// unfinished is the message whose last part was not written yet, or nil.
	unfinished io.WriteCloser
	// disconnected is set after the client has closed the connection.
	disconnected atomic.Bool
}

// newClient returns the client of a connection. limit is Options.MaxMessage.
func newClient(ws *websocket.Conn, raw net.Conn, limit int) *Client {
	ws.SetReadLimit(-1) // Client has its own limit
	return &Client{ws: ws, raw: raw, limit: cmp.Or(limit, maxMessage)}
}

// Next returns the next message, valid until the next call. If a message cannot be accepted,
// it returns a *protocol.Error, and the next call continues after that message. Other errors
// are final; io.EOF means that the client has disconnected.
func (c *Client) Next() ([]byte, error) {
	if c.buf.Cap() > maxRetainedBuffer { // free it before a read that may block for long
		c.buf = bytes.Buffer{}
	}
	kind, message, err := c.ws.Reader(context.Background())
	if err != nil {
		return nil, c.closeError(err)
	}
	c.buf.Reset()
	if kind != websocket.MessageText {
		return nil, c.skip(message, "a binary message; send text messages")
	}
	n, err := c.buf.ReadFrom(io.LimitReader(message, int64(c.limit)+1))
	switch {
	case err != nil:
		return nil, c.closeError(err)
	case n > int64(c.limit):
		return nil, c.skip(message, fmt.Sprintf("a message of more than %d bytes", c.limit))
	}
	return c.buf.Bytes(), nil
}

// skip discards the rest of a rejected message.
func (c *Client) skip(message io.Reader, reason string) error {
	if _, err := io.Copy(io.Discard, message); err != nil {
		return c.closeError(err)
	}
	return protocol.Refuse(protocol.KindInvalidRequest, "Invalid request: %s", reason)
}

// Write sends each line as one text message. A line may come in several calls.
func (c *Client) Write(lines []byte) (int, error) {
	for line := range bytes.Lines(lines) {
		if err := c.send(bytes.CutSuffix(line, []byte{'\n'})); err != nil {
			return 0, c.closeError(err)
		}
	}
	return len(lines), nil
}

// send sends a part of a message. last is set if it is the last one.
func (c *Client) send(part []byte, last bool) (err error) {
	if c.unfinished == nil && last && len(part) <= frameBytes {
		return c.ws.Write(context.Background(), websocket.MessageText, part)
	}
	if c.unfinished == nil {
		if c.unfinished, err = c.ws.Writer(context.Background(), websocket.MessageText); err != nil {
			return err
		}
	}
	for frame := range slices.Chunk(part, frameBytes) {
		if _, err := c.unfinished.Write(frame); err != nil {
			return err
		}
	}
	if !last {
		return nil
	}
	err = c.unfinished.Close()
	c.unfinished = nil
	return err
}

// closeError returns io.EOF if err means that the client has disconnected, or else err.
func (c *Client) closeError(err error) error {
	gone := websocket.CloseStatus(err) != -1
	for _, e := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		gone = gone || errors.Is(err, e)
	}
	gone = gone || osfile.Is(err, syscall.ECONNRESET) || osfile.Is(err, syscall.EPIPE)
	if !gone {
		return err
	}
	c.disconnected.Store(true)
	return io.EOF
}

// Close closes the connection, which also ends a Next and a Write. A connected client gets a close
// frame, and has closeTimeout to reply to it.
func (c *Client) Close() {
	if c.disconnected.Load() {
		_ = c.ws.CloseNow()
		return
	}
	impatience := time.AfterFunc(closeTimeout, func() { _ = c.raw.Close() })
	defer impatience.Stop()
	_ = c.ws.Close(websocket.StatusGoingAway, "the server closed the connection")
}
