package server

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"appserver/protocol"
)

// TestInitializeResponseIsFirst checks that broadcasts do not precede the response to
// initialize.
func TestInitializeResponseIsFirst(t *testing.T) {
	s := New(zap.NewNop())
	s.Handle(Service{Handler: Methods{ServerHandlers: ServerHandlers{Outbox: s}}})
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, conn := range s.Clients() {
				s.Notify(conn, protocol.SkillsChangedNotification{})
			}
		}
	}()
	for range 3000 {
		f := &firstMessage{in: make(chan string, 1), first: make(chan string, 1)}
		served := make(chan error, 1)
		go func() { served <- s.ServeTransport(context.Background(), f) }()
		f.in <- initializeLine
		require.Regexp(t, `^{"jsonrpc":"2.0","id":0,"result"`, <-f.first)
		close(f.in)
		require.NoError(t, <-served)
	}
	close(stop)
	<-stopped
}

// firstMessage is a Transport that records the first message of the server.
type firstMessage struct {
	in, first chan string
}

// Next returns the message of the test.
func (f *firstMessage) Next() ([]byte, error) {
	if m, more := <-f.in; more {
		return []byte(m), nil
	}
	return nil, io.EOF
}

// Write records the first line.
func (f *firstMessage) Write(b []byte) (int, error) {
	select {
	case f.first <- string(b[:min(len(b), 100)]):
	default:
	}
	return len(b), nil
}
