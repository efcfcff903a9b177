package mcp

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxOpen bounds the requests of a server without a response. The library starts to handle each
// request when it is read, without a limit.
const maxOpen = 64

// throttled is a transport to a program that stops reading while maxOpen requests are open. It overrides Connect.
type throttled struct {
	sdk.Transport
	listChanged func() // called when the list of tools has changed, before later messages are read
}

func (t throttled) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &throttledConnection{Connection: c, listChanged: t.listChanged, open: map[any]bool{},
		answered: make(chan struct{}, 1), closed: make(chan struct{})}, nil
}

// throttledConnection is a connection of a throttled transport. It overrides Read, Write and Close.
type throttledConnection struct {
	sdk.Connection
	listChanged func()
	answered    chan struct{} // signals that Read may continue
	closed      chan struct{}
	closing     sync.Once

	mu   sync.Mutex
	open map[any]bool // by id: the library rejects a request whose id is in use
}

// Read blocks, if too many requests are open, until some are answered.
func (c *throttledConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if answer, ok := m.(*jsonrpc.Response); ok && err == nil {
		answer.Result = cleanResult(answer.Result)
	}
	r, asks := m.(*jsonrpc.Request)
	if err == nil && asks && r.Method == listChanged {
		c.listChanged()
	}
	if err != nil || !asks || !r.IsCall() {
		return m, err
	}
	for !c.tryOpen(r.ID.Raw()) {
		select {
		case <-c.answered:
		case <-c.closed:
			return nil, io.EOF
		}
	}
	return m, nil
}

func (c *throttledConnection) tryOpen(id any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= maxOpen {
		return false
	}
	c.open[id] = true
	return true
}

// Write closes the connection if the program does not read and the caller has given up. The program
// then has only a part of a message, so no other can follow. A request counts as answered even if
// the response could not be written, because it is not retried.
func (c *throttledConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	written := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-written:
		case <-time.After(endTime):
			_ = c.Close()
		}
	})
	err := c.Connection.Write(ctx, m)
	if err == nil {
		setSent(ctx)
	}
	close(written)
	stop()
	if r, answers := m.(*jsonrpc.Response); answers {
		c.mu.Lock()
		delete(c.open, r.ID.Raw())
		c.mu.Unlock()
		signal(c.answered)
	}
	return err
}

func (c *throttledConnection) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// signal does nothing if the channel is signalled already.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
