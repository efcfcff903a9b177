package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"appserver/protocol"
)

// fakeTransport is a Transport in memory.
type fakeTransport struct {
	in   chan any // messages and errors for Next
	mu   sync.Mutex
	said []string
	full error // error of Write
}

// Next returns the next value of in.
func (f *fakeTransport) Next() ([]byte, error) {
	switch m := (<-f.in).(type) {
	case string:
		return []byte(m), nil
	case error:
		return nil, m
	}
	return nil, io.EOF // in is closed
}

// Write records the lines.
func (f *fakeTransport) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full != nil {
		return 0, f.full
	}
	f.said = append(f.said, strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")...)
	return len(b), nil
}

func (f *fakeTransport) hear() []string {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	said := f.said
	f.said = nil
	return said
}

// transportServer is a server with several fakeTransports.
type transportServer struct {
	*Server
	left   []uint64
	served sync.WaitGroup
	errs   []error
}

func newHall() *transportServer {
	h := &transportServer{Server: New(zap.NewNop())}
	h.Handle(Service{Handler: newFake(h.Server), Left: func(conn uint64) {
		if h.Connected(conn) {
			panic("told too early")
		}
		h.left = append(h.left, conn)
	}})
	return h
}

func (h *transportServer) enter() *fakeTransport {
	f := &fakeTransport{in: make(chan any, 16)}
	h.served.Go(func() {
		h.errs = append(h.errs, h.ServeTransport(context.Background(), f))
		close(f.in)
	})
	synctest.Wait()
	return f
}

func (h *transportServer) end(t *testing.T) {
	require.NoError(t, h.Drain(context.Background()))
	h.served.Wait()
}

// TestTransportMessages checks that each message is one JSON-RPC message, whatever line ends
// it contains, and that a rejected message gets a response.
func TestTransportMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall()
		f := h.enter()
		f.in <- strings.ReplaceAll(initializeLine, ",", ",\n")
		require.Equal(t, []string{initializeAnswer}, f.hear())
		f.in <- `{"id":1,"method":"model/list","params":{}}` + "\n" + `{"id":2,"method":"model/list","params":{}}`
		f.in <- protocol.Refuse(protocol.KindInvalidRequest, "Invalid request: a bad frame")
		f.in <- ""
		f.in <- `{"id":3,"method":"model/list","params":{}}`
		said := f.hear()
		require.Len(t, said, 3)
		require.Contains(t, said[0], `"code":-32700`)
		require.Equal(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`+
			`"message":"Invalid request: a bad frame","data":{"kind":"invalidRequest"}}}`, said[1])
		require.Equal(t, `{"jsonrpc":"2.0","id":3,"result":{"model":"m"}}`, said[2])
		h.end(t)
		require.Equal(t, []error{nil}, h.errs)
	})
}

// TestTransportsEndAlone checks that the end of one connection affects neither the server nor
// other connections.
func TestTransportsEndAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall()
		a, b, c := h.enter(), h.enter(), h.enter()
		for _, f := range []*fakeTransport{a, b, c} {
			f.in <- initializeLine
			require.Equal(t, []string{initializeAnswer}, f.hear())
		}
		require.Equal(t, []uint64{1, 2, 3}, h.Clients())
		a.in <- io.EOF
		synctest.Wait()
		require.Equal(t, []uint64{1}, h.left)
		broken := errors.New("broken")
		b.mu.Lock()
		b.full = broken
		b.mu.Unlock()
		h.Notify(2, protocol.WarningNotification{Message: "hello"})
		synctest.Wait()
		require.Equal(t, []uint64{1, 2}, h.left)
		require.Equal(t, []uint64{3}, h.Clients())
		select {
		case <-h.EOF():
			t.Fatal("the server goes on")
		default:
		}
		h.Notify(1, protocol.WarningNotification{Message: "nobody hears"})
		h.Ask(1, 7, "x", nil, func(json.RawMessage, error) {})
		c.in <- `{"id":1,"method":"model/list","params":{}}`
		require.Len(t, c.hear(), 1)
		h.end(t)
		require.Equal(t, []uint64{1, 2, 3}, h.left)
		require.Len(t, h.errs, 3)
		require.NoError(t, errors.Join(h.errs[0], h.errs[2]))
		require.ErrorIs(t, h.errs[1], broken)
		require.ErrorIs(t, h.ServeTransport(context.Background(), &fakeTransport{}), errShutDown)
	})
}

// TestDisconnectEndsCongestion checks that producers do not wait for a closed connection.
func TestDisconnectEndsCongestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall()
		stuck := &stuckTransport{fakeTransport: fakeTransport{in: make(chan any, 1)}, release: make(chan struct{})}
		h.served.Go(func() {
			_ = h.ServeTransport(context.Background(), stuck)
			close(stuck.in)
		})
		stuck.in <- initializeLine
		synctest.Wait()
		for h.Congested(1) == nil {
			h.Notify(1, protocol.WarningNotification{Message: strings.Repeat("x", 1<<20)})
		}
		room := h.Congested(1)
		close(stuck.release)
		<-room
		synctest.Wait()
		require.Equal(t, []uint64{1}, h.left)
		require.Nil(t, h.Congested(1))
		h.end(t)
	})
}

// stuckTransport blocks writes until it breaks.
type stuckTransport struct {
	fakeTransport
	release chan struct{}
}

// Write fails after the release.
func (f *stuckTransport) Write([]byte) (int, error) {
	<-f.release
	return 0, io.ErrClosedPipe
}
