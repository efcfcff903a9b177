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

	"appserver/platform/osfile"
	"appserver/protocol"
)

const (
	// maxMessage is the default of Options.MaxMessage, in bytes.
	maxMessage = 64 << 20
	// frameBytes is the maximum length of a frame, in bytes.
	frameBytes = 16 << 20
	// minBuffer is the smallest read buffer, in bytes.
	minBuffer = 4 << 10
	// bufferGrowth is the factor by which the read buffer grows.
	bufferGrowth = 4
)

// Client is one WebSocket connection, accepted or dialed. It implements server.Transport. One
// goroutine may read while another one writes.
type Client struct {
	ws *websocket.Conn
	// raw is the connection below WebSocket and TLS.
	raw net.Conn
	buf []byte
	// intake has the shares for messages longer than freeBytes, or is nil. share is what this client has of it.
	intake *Intake
	share  *holding
	// limit is the maximum length of a received message, in bytes.
	limit int
	// unfinished is the message whose last part was not written yet, or nil.
	unfinished io.WriteCloser
	// disconnected is set after the client has closed the connection.
	disconnected atomic.Bool
}

// newClient returns the client of a connection. limit is Options.MaxMessage, intake is Options.Intake.
func newClient(ws *websocket.Conn, raw net.Conn, limit int, intake *Intake) *Client {
	ws.SetReadLimit(-1) // Client has its own limit
	c := &Client{ws: ws, raw: raw, limit: cmp.Or(limit, maxMessage), intake: intake}
	c.share = newHolding(func() { go c.close(websocket.StatusTryAgainLater, evicted) })
	return c
}

// Next returns the next message, valid until the next call. If a message cannot be accepted,
// it returns a *protocol.Error, and the next call continues after that message. Other errors
// are final; io.EOF means that the client has disconnected.
func (c *Client) Next() ([]byte, error) {
	c.freeBuffer() // before a read that may block for long
	kind, message, err := c.ws.Reader(context.Background())
	if err != nil {
		return nil, c.readError(err)
	}
	if kind != websocket.MessageText {
		return nil, c.skip(message, "a binary message; send text messages")
	}
	for {
		if len(c.buf) > c.limit {
			c.freeBuffer()
			return nil, c.skip(message, fmt.Sprintf("a message of more than %d bytes", c.limit))
		}
		if err := c.makeRoom(); err != nil {
			return nil, c.readError(err)
		}
		n, err := message.Read(c.buf[len(c.buf):cap(c.buf)])
		c.buf = c.buf[:len(c.buf)+n]
		c.share.read.Store(time.Now().UnixNano())
		switch {
		case errors.Is(err, io.EOF) && len(c.buf) <= c.limit:
			c.share.read.Store(0)
			return c.buf, nil
		case err != nil && !errors.Is(err, io.EOF):
			return nil, c.readError(err)
		}
	}
}

// freeBuffer empties the read buffer, and frees one that needs a share of the intake.
func (c *Client) freeBuffer() {
	c.buf = c.buf[:0]
	if cap(c.buf) > freeBytes {
		c.buf = nil
	}
	if c.intake != nil {
		c.intake.release(c.share)
	}
}

// makeRoom makes room for a part of a message. It waits for a share of the intake.
func (c *Client) makeRoom() error {
	if len(c.buf) < cap(c.buf) {
		return nil
	}
	size := max(cap(c.buf)*bufferGrowth, minBuffer)
	if size >= c.limit {
		size = c.limit + 1 // one more shows that a message is too long
	}
	if c.intake != nil {
		if err := c.intake.reserve(c.share, min(size, c.limit)); err != nil {
			return err
		}
	}
	c.buf = append(make([]byte, 0, size), c.buf...)
	return nil
}

// readError returns the error of a read for the caller of Next. The shares are free then.
func (c *Client) readError(err error) error {
	lost := c.isEvicted()
	c.freeBuffer()
	if lost {
		return errEvicted
	}
	return c.closeError(err)
}

// isEvicted reports whether the client lost its share.
func (c *Client) isEvicted() bool {
	select {
	case <-c.share.ended:
		return true
	default:
		return false
	}
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
	code, reason := websocket.StatusGoingAway, "the server closed the connection"
	if c.isEvicted() {
		code, reason = websocket.StatusTryAgainLater, evicted
	}
	if c.intake != nil {
		c.intake.end(c.share)
	}
	if c.disconnected.Load() {
		_ = c.ws.CloseNow()
		return
	}
	c.close(code, reason)
}

// Disconnect sends a close frame with a reason and ends a Next and a Write in other goroutines. The caller of Next then
// calls Close.
func (c *Client) Disconnect(reason string) { c.close(websocket.StatusGoingAway, reason) }

// close sends a close frame and waits for the reply.
func (c *Client) close(code websocket.StatusCode, reason string) {
	impatience := time.AfterFunc(closeTimeout, func() { _ = c.raw.Close() })
	defer impatience.Stop()
	_ = c.ws.Close(code, reason)
}
