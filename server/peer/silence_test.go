package peer_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/server/listen"
	"appserver/server/peer"
	"appserver/test/sample"
)

// silence is Options.Silence of these tests.
const silence = time.Second

// network forwards connections to a port, until it is divided.
type network struct {
	net.Listener
	divided atomic.Bool
	copies  sync.WaitGroup
}

// through returns a network before a port.
func through(t *testing.T, port *peer.Port) *network {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	n := &network{Listener: l}
	n.copies.Go(func() {
		for {
			from, err := n.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", strings.TrimPrefix(port.Address(), "ws://"))
			if err != nil {
				_ = from.Close()
				continue
			}
			n.copies.Go(func() { n.join(from, to) })
		}
	})
	t.Cleanup(func() {
		require.NoError(t, n.Close())
		n.copies.Wait()
	})
	return n
}

// join forwards in both directions. In a divided network, neither side learns that the other one has closed.
func (n *network) join(from, to net.Conn) {
	var directions sync.WaitGroup
	directions.Go(func() { n.forward(from, to) })
	directions.Go(func() { n.forward(to, from) })
	directions.Wait()
	_, _ = from.Close(), to.Close()
}

// forward copies bytes until from is closed. A divided network drops them, and does not close to.
func (n *network) forward(from, to net.Conn) {
	defer func() {
		if !n.divided.Load() {
			_ = to.Close()
		}
	}()
	buf := make([]byte, 32<<10)
	for {
		size, err := from.Read(buf)
		if err != nil {
			return
		}
		if n.divided.Load() {
			continue
		}
		if _, err := to.Write(buf[:size]); err != nil {
			return
		}
	}
}

// quiet returns the options of ports with heartbeats.
func quiet() peer.Options {
	return peer.Options{Listen: "ws://127.0.0.1:0", Secret: secret, Silence: silence}
}

// TestHeartbeatsKeepIdleLinks waits several times longer than the limit of silence.
func TestHeartbeatsKeepIdleLinks(t *testing.T) {
	t.Parallel()
	one, two := serve(t, quiet()), serve(t, quiet())
	link := dial(t, one, two)
	ended := make(chan error, 1)
	go func() {
		_, err := link.Next()
		ended <- err
	}()
	select {
	case err := <-ended:
		require.NoError(t, err, "the link ended")
	case <-time.After(5 * silence):
	}
	_, err := link.Write([]byte("hello\n"))
	require.NoError(t, err)
	require.NoError(t, <-ended)
}

// TestADividedNetworkEndsBothSidesOfALink drops all bytes of a link, without closing its connections.
func TestADividedNetworkEndsBothSidesOfALink(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	port := serveBy(t, quiet(), peer.Service{Link: func(ctx context.Context, link *peer.Link) error {
		err := echo(ctx, link)
		ended <- err
		return err
	}})
	between := through(t, port)
	link, err := serve(t, quiet()).Dial(t.Context(), "ws://"+between.Addr().String())
	require.NoError(t, err)
	defer link.Close()
	exchange(t, link, "hello")
	between.divided.Store(true)
	_, err = link.Next()
	require.ErrorContains(t, err, "timeout")
	require.ErrorContains(t, <-ended, "timeout")
}

// TestASlowReaderKeepsItsLink does not read for several times the limit of silence, while the other side
// waits for messages. Then the other side sends more than the buffers of the system take, and waits longer than for
// a client that reads nothing.
func TestASlowReaderKeepsItsLink(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	sent := strings.Repeat("x", 16<<20)
	begun := make(chan struct{})
	slow := serveBy(t, quiet(), peer.Service{Link: func(_ context.Context, link *peer.Link) error {
		if _, err := link.Next(); err != nil {
			return err
		}
		close(begun)
		_, err := io.WriteString(link, sent+"\n")
		if err == nil {
			_, err = link.Next() // the heartbeats of the reader arrive
		}
		return err
	}})
	link := dial(t, serve(t, quiet()), slow)
	time.Sleep(3 * silence)
	_, err := link.Write([]byte("go\n"))
	require.NoError(t, err)
	<-begun
	time.Sleep(listen.DefaultWriteTimeout + 2*time.Second)
	got, err := link.Next()
	require.NoError(t, err)
	require.Equal(t, len(sent), len(got))
}
