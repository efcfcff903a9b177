package mcp

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostAsked bounds the requests of a server without a response. The library starts to handle each
// request when it is read, without a limit.
const mostAsked = 64

// held is a transport to a program that stops reading while mostAsked requests are open.
type held struct{ sdk.Transport }

func (h held) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := h.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &heldConnection{Connection: c, open: map[any]bool{}, answered: make(chan struct{}, 1),
		closed: make(chan struct{})}, nil
}

type heldConnection struct {
	sdk.Connection
	answered chan struct{} // signals that Read may continue
	closed   chan struct{}
	closing  sync.Once

	mu   sync.Mutex
	open map[any]bool // by id: the library rejects a request whose id is in use
}

// Read blocks, if too many requests are open, until some are answered.
func (c *heldConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if answer, ok := m.(*jsonrpc.Response); ok && err == nil {
		answer.Result = markWritten(answer.Result)
	}
	r, asks := m.(*jsonrpc.Request)
	if err != nil || !asks || !r.IsCall() {
		return m, err
	}
	for !c.take(r.ID.Raw()) {
		select {
		case <-c.answered:
		case <-c.closed:
			return nil, io.EOF
		}
	}
	return m, nil
}

func (c *heldConnection) take(id any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= mostAsked {
		return false
	}
	c.open[id] = true
	return true
}

// Write closes the connection if the program does not read and the caller has given up. The program
// then has only a part of a message, so no other can follow. A request counts as answered even if
// the response could not be written, because it is not retried.
func (c *heldConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	written := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-written:
		case <-time.After(endTime):
			_ = c.Close()
		}
	})
	err := c.Connection.Write(ctx, m)
	close(written)
	stop()
	if r, answers := m.(*jsonrpc.Response); answers {
		c.mu.Lock()
		delete(c.open, r.ID.Raw())
		c.mu.Unlock()
		tell(c.answered)
	}
	return err
}

func (c *heldConnection) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
