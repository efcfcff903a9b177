package listen

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// TestOtherRequestsTimeOut checks that connections for health checks and rejected requests are
// closed after the handshake timeout.
func TestOtherRequestsTimeOut(t *testing.T) {
	l := echoes(t, Options{TokenCheck: StaticToken([]byte("secret"))}, hurry)
	for _, request := range []string{
		"", "GET /readyz", "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /readyz HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		c, err := net.Dial("tcp", l.accept.Addr().String())
		require.NoError(t, err)
		_, err = io.WriteString(c, request)
		require.NoError(t, err)
		require.NoError(t, c.SetReadDeadline(time.Now().Add(30*time.Second)))
		_, err = io.Copy(io.Discard, c)
		require.NoError(t, err, "%q keeps its connection", request)
		require.NoError(t, c.Close())
	}
}

// TestClientsMayBeSilent checks that the handshake timeout does not apply to open connections.
func TestClientsMayBeSilent(t *testing.T) {
	ws := visit(t, echoes(t, Options{}, hurry))
	time.Sleep(3 * shortTimeout)
	require.NoError(t, ws.Write(t.Context(), websocket.MessageText, []byte("hello")))
	_, got, err := ws.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, "hello", string(got))
}

// shortTimeout replaces handshakeTimeout in tests.
const shortTimeout = 300 * time.Millisecond

func hurry(l *Listener) {
	for _, limit := range []*time.Duration{&l.http.ReadTimeout, &l.http.ReadHeaderTimeout, &l.http.IdleTimeout} {
		if *limit == handshakeTimeout {
			*limit = shortTimeout
		}
	}
}
