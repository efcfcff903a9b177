package partition

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newEcho returns a link to a server that answers with the same bytes, and a client of it.
func newEcho(t *testing.T) (*Link, net.Conn) {
	t.Helper()
	l := New(t, "tcp", echo(t, ""))
	return l, dial(t, l)
}

// echo starts a server that answers with a prefix and the bytes of the client.
func echo(t *testing.T, prefix string) (address string) {
	t.Helper()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.WriteString(c, prefix)
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	return server.Addr().String()
}

func dial(t *testing.T, l *Link) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	_, err := io.WriteString(c, text)
	require.NoError(t, err)
}

// receive reads a text.
func receive(t *testing.T, c net.Conn, want string) {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
	got := make([]byte, len(want))
	_, err := io.ReadFull(c, got)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

// isSilent requires that nothing arrives for a moment.
func isSilent(t *testing.T, c net.Conn) {
	t.Helper()
	require.NoError(t, c.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	_, err := c.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

// isClosed requires that the connection ends after a text.
func isClosed(t *testing.T, c net.Conn, after string) {
	t.Helper()
	receive(t, c, after)
	_, err := c.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}

func TestHeldBytesArriveAfterTheLinkIsHealed(t *testing.T) {
	for _, d := range []Direction{Requests, Answers} {
		l, c := newEcho(t)
		send(t, c, "before")
		receive(t, c, "before")
		l.Hold(d)
		send(t, c, "meanwhile")
		isSilent(t, c)
		fresh := dial(t, l) // half-open
		send(t, fresh, "fresh")
		isSilent(t, fresh)
		l.Heal()
		receive(t, c, "meanwhile")
		receive(t, fresh, "fresh")
	}
}

func TestADelayAppliesToEachDirection(t *testing.T) {
	l, c := newEcho(t)
	const delay = 30 * time.Millisecond
	l.Delay(delay)
	began := time.Now()
	send(t, c, "text")
	receive(t, c, "text")
	require.GreaterOrEqual(t, time.Since(began), 2*delay)
}

func TestAConnectionIsCutAfterANumberOfBytes(t *testing.T) {
	for _, d := range []Direction{Requests, Answers} {
		l, c := newEcho(t)
		send(t, c, "first")
		receive(t, c, "first")
		l.CutAfter(d, 3)
		send(t, c, "second")
		if d == Answers {
			isClosed(t, c, "sec")
		} else {
			_, err := io.Copy(io.Discard, c)
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		}
		c = dial(t, l)
		send(t, c, "a later connection stays")
		receive(t, c, "a later connection stays")
	}
}

func TestTheAnswersToARequestAreCut(t *testing.T) {
	l, c := newEcho(t)
	l.CutAnswers(1, "commit", true)
	send(t, c, "begin")
	receive(t, c, "begin")
	send(t, c, "commit")
	isClosed(t, c, "")
	isClosed(t, dial(t, l), "")
	l.Heal()
	c = dial(t, l)
	send(t, c, "commit")
	receive(t, c, "commit")
	require.Equal(t, 3, l.Connections())
}

func TestARefusedLinkClosesConnectionsUntilItIsHealed(t *testing.T) {
	l, c := newEcho(t)
	send(t, c, "text")
	receive(t, c, "text")
	l.Refuse()
	isClosed(t, c, "")
	isClosed(t, dial(t, l), "")
	l.Heal()
	c = dial(t, l)
	send(t, c, "text")
	receive(t, c, "text")
}

func TestARetargetedLinkLeadsToAnotherServer(t *testing.T) {
	l, c := newEcho(t)
	send(t, c, "text")
	receive(t, c, "text")
	l.Retarget("tcp", echo(t, "another: "))
	fresh := dial(t, l)
	send(t, fresh, "text")
	receive(t, fresh, "another: text")
	send(t, c, "more")
	receive(t, c, "more")
}
