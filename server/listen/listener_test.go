package listen

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestParse checks the forms of --listen URLs.
func TestParse(t *testing.T) {
	for url, want := range map[string]string{
		"unix:///run/x.sock":        "/run/x.sock",
		"unix:///run/../x":          "/x",
		"unix://":                   "/home/app-server-control/app-server-control.sock",
		"ws://127.0.0.1:80":         "127.0.0.1:80",
		"ws://127.1.2.3:0/":         "127.1.2.3:0",
		"ws://[::1]:65535":          "[::1]:65535",
		"ws://[::ffff:127.0.0.1]:1": "[::ffff:127.0.0.1]:1",
		"ws://192.0.2.1:80":         "192.0.2.1:80",
		"ws://0.0.0.0:80":           "0.0.0.0:80",
	} {
		got, err := Parse(url, "/home")
		require.NoError(t, err, url)
		if got.Path == "" {
			require.Equal(t, want, got.Port.String())
			require.Equal(t, !strings.HasPrefix(want, "0.") && !strings.HasPrefix(want, "192."), got.IsLocal(), url)
		} else {
			require.Equal(t, want, got.Path)
		}
	}
	for _, url := range []string{
		"", "stdio://", "unix:/x", "tcp://127.0.0.1:1", "wss://127.0.0.1:1", "ws://", "ws://127.0.0.1", "ws://:80",
		"ws://127.0.0.1:65536",
		"ws://localhost:80", "ws://127.0.0.1:80/path", "ws://user@127.0.0.1:80",
		"unix:///" + strings.Repeat("d", 90) + "/s", "unix:///" + strings.Repeat("x", 103),
	} {
		_, err := Parse(url, "/home")
		require.Error(t, err, url)
	}
	relative, err := Parse("unix://x.sock", "/home")
	require.NoError(t, err)
	require.True(t, filepath.IsAbs(relative.Path))
}

// shortDir returns a folder with a path short enough for sockets.
func shortDir(t testing.TB) string {
	dir, err := os.MkdirTemp("", "listen")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// TestSocketAtTheLongestPath checks that clients can connect to a socket with the longest
// accepted path.
func TestSocketAtTheLongestPath(t *testing.T) {
	dir := shortDir(t)
	a, err := Parse("unix://"+filepath.Join(dir, strings.Repeat("x", maxSocketPath-len(dir)-1)), "")
	require.NoError(t, err)
	s, err := listenUnix(a.Path)
	require.NoError(t, err)
	c, err := net.Dial("unix", a.Path)
	require.NoError(t, err)
	require.NoError(t, errors.Join(c.Close(), s.Close()))
}

// TestSocketHasOneServer starts several servers at once.
func TestSocketHasOneServer(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	left.SetUnlinkOnClose(false)
	require.NoError(t, left.Close())
	sockets, refused := make(chan *socket, 16), make(chan error, 16)
	var all sync.WaitGroup
	for range cap(sockets) {
		all.Go(func() {
			s, err := listenUnix(path)
			sockets, refused := sockets, refused
			if err != nil {
				sockets = nil
			} else {
				refused = nil
			}
			select {
			case sockets <- s:
			case refused <- err:
			}
		})
	}
	all.Wait()
	require.Len(t, sockets, 1)
	for range len(refused) {
		require.ErrorAs(t, <-refused, new(*InUseError))
	}
	s := <-sockets
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, "Srw-------", info.Mode().String())
	require.NoError(t, s.Close())
	require.NoFileExists(t, path)
}

// TestSocketOfAnother checks that the socket of another server is not replaced, also behind a
// link, and that a replaced socket is not removed.
func TestSocketOfAnother(t *testing.T) {
	dir := shortDir(t)
	path, live := filepath.Join(dir, "s"), filepath.Join(dir, "live")
	other, err := net.Listen("unix", live)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(live, path))
	_, err = listenUnix(path)
	require.ErrorAs(t, err, new(*InUseError))
	require.NoError(t, other.Close())
	s, err := listenUnix(path)
	require.NoError(t, err, "the link leads nowhere")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, []byte("mine"), 0o600))
	require.NoError(t, s.Close())
	require.FileExists(t, path)
	_, err = listenUnix(path)
	require.ErrorContains(t, err, "not a socket")
	_, err = listenUnix(filepath.Join(path, "s"))
	require.Error(t, err, "a file is no folder")
}

// echoes returns a listener that sends each message back.
func echoes(t testing.TB, o Options, change ...func(*Listener)) *Listener {
	o.Serve = func(_ context.Context, c *Client) error {
		for {
			message, err := c.Next()
			var refused *protocol.Error
			switch {
			case errors.As(err, &refused):
				message = []byte(refused.Message)
			case err != nil:
				return err
			}
			if _, err := c.Write(append(message, '\n')); err != nil {
				return err
			}
		}
	}
	return serving(t, o, change...)
}

// serving returns a running listener on a socket, or on a port if there is a token check.
func serving(t testing.TB, o Options, change ...func(*Listener)) *Listener {
	o.Address = Address{Path: filepath.Join(shortDir(t), "s")}
	if o.TokenCheck != nil {
		o.Address = Address{Port: netip.MustParseAddrPort("127.0.0.1:0")}
	}
	l, err := New(o)
	require.NoError(t, err)
	for _, c := range change {
		c(l)
	}
	served := make(chan error, 1)
	go func() { served <- l.Serve() }()
	t.Cleanup(func() {
		require.NoError(t, l.Stop())
		require.NoError(t, <-served)
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		require.NoError(t, l.Wait(ctx))
		require.NoError(t, l.Stop(), "twice does no harm")
	})
	return l
}

// visit connects a client.
func visit(t *testing.T, l *Listener) *websocket.Conn {
	transport := &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", l.Address.Path)
		}}
	ws, r, err := websocket.Dial(t.Context(), "ws://localhost/rpc",
		&websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	require.NoError(t, err)
	require.Equal(t, "16777216", r.Header.Get("X-Codex-Websocket-Max-Unfragmented-Message-Bytes"))
	ws.SetReadLimit(-1)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return ws
}

// TestClientEchoes sends messages of different lengths.
func TestClientEchoes(t *testing.T) {
	ws := visit(t, echoes(t, Options{}))
	for _, n := range []int{0, 1, 125, 126, 1 << 16, freeBytes + 1, frameBytes, frameBytes + 1, 2*frameBytes + 7,
		3} {
		sent := bytes.Repeat([]byte("x"), n)
		require.NoError(t, ws.Write(t.Context(), websocket.MessageText, sent))
		kind, got, err := ws.Read(t.Context())
		require.NoError(t, err)
		require.Equal(t, websocket.MessageText, kind)
		require.True(t, bytes.Equal(sent, got), "%d bytes came back as %d", n, len(got))
	}
}

// TestClientRefuses checks that reading continues after a rejected message.
func TestClientRefuses(t *testing.T) {
	ws := visit(t, echoes(t, Options{}))
	for _, c := range []struct {
		kind    websocket.MessageType
		message []byte
		says    string
	}{
		{websocket.MessageBinary, []byte("{}"), "Invalid request: a binary message; send text messages"},
		{websocket.MessageText, make([]byte, maxMessage+1), "Invalid request: a message of more than 67108864 bytes"},
		{websocket.MessageText, []byte("next"), "next"},
	} {
		require.NoError(t, ws.Write(t.Context(), c.kind, c.message))
		_, got, err := ws.Read(t.Context())
		require.NoError(t, err)
		require.Equal(t, c.says, string(got))
	}
	require.NoError(t, ws.Ping(ws.CloseRead(t.Context())))
}

// TestClientSendsLinesAsMessages checks that each line of a write is one message.
func TestClientSendsLinesAsMessages(t *testing.T) {
	l := serving(t, Options{Serve: func(_ context.Context, c *Client) error {
		_, err := c.Write([]byte("one\ntwo\n\nfour\n"))
		return err
	}})
	ws := visit(t, l)
	for _, want := range []string{"one", "two", "", "four"} {
		_, got, err := ws.Read(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	_, _, err := ws.Read(t.Context())
	require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(err))
}

// TestAMessageInPartsIsOneMessage writes a message in parts, and others around it.
func TestAMessageInPartsIsOneMessage(t *testing.T) {
	l := serving(t, Options{Serve: func(_ context.Context, c *Client) error {
		for _, part := range []string{"one\ntw", "o and ", "a half\nthree\n", "four\n"} {
			if _, err := c.Write([]byte(part)); err != nil {
				return err
			}
		}
		return nil
	}})
	ws := visit(t, l)
	for _, want := range []string{"one", "two and a half", "three", "four"} {
		_, got, err := ws.Read(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

// TestWriteTimeout checks that a client that does not read is disconnected, and that a slow
// one is not.
func TestWriteTimeout(t *testing.T) {
	ended := make(chan error, 1)
	text := append(bytes.Repeat([]byte("x"), 8<<20), '\n')
	l := serving(t, Options{WriteTimeout: time.Second, Serve: func(_ context.Context, c *Client) error {
		_, err := c.Write(text)
		ended <- err
		return err
	}})
	visit(t, l)
	require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)

	slow := visit(t, l)
	_, message, err := slow.Reader(t.Context())
	require.NoError(t, err)
	taken, piece := 0, make([]byte, 256<<10)
	for pause := time.NewTicker(50 * time.Millisecond); err == nil; <-pause.C {
		var n int
		n, err = io.ReadFull(message, piece)
		taken += n
	}
	require.Equal(t, len(text)-1, taken)
	require.NoError(t, <-ended)
}

// TestPortNeedsATokenCheck checks the error of New.
func TestPortNeedsATokenCheck(t *testing.T) {
	_, err := New(Options{Address: Address{Port: netip.MustParseAddrPort("127.0.0.1:0")}})
	require.ErrorContains(t, err, "requires a token check")
}

// TestWaitGivesUp checks that Wait returns when its context ends.
func TestWaitGivesUp(t *testing.T) {
	release := make(chan struct{})
	l := serving(t, Options{Serve: func(context.Context, *Client) error {
		<-release
		return nil
	}})
	visit(t, l)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, l.Wait(ctx), context.DeadlineExceeded)
	close(release)
}
