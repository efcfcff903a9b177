package apptest

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// Daemon is a server process that listens for clients.
type Daemon struct {
	T      testing.TB
	Cmd    *exec.Cmd
	Home   string
	URL    string // the address that it printed
	Token  string // empty for a Unix socket
	Stderr []string
	Exited chan struct{}
	err    error // exit error; valid once Exited is closed
}

// StartDaemon starts the server with --listen and waits until it listens.
func StartDaemon(t testing.TB, home, listen string, args ...string) *Daemon {
	t.Helper()
	d := LaunchDaemon(t, OfflineCommand(t, home, append([]string{"--listen", listen}, args...)...), home)
	require.NotEmpty(t, d.URL, "the server exited: %s", strings.Join(d.Stderr, "\n"))
	return d
}

// LaunchDaemon starts a command and waits until it listens or exits. After an exit, URL is empty.
func LaunchDaemon(t testing.TB, cmd *exec.Cmd, home string) *Daemon {
	t.Helper()
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	d := &Daemon{T: t, Cmd: cmd, Home: home, Exited: make(chan struct{})}
	listening := make(chan struct{})
	go d.read(bufio.NewScanner(stderr), listening)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-d.Exited
		if t.Failed() {
			t.Logf("stderr of the server:\n%s", strings.Join(d.Stderr, "\n"))
		}
	})
	select {
	case <-listening:
	case <-time.After(Timeout):
		t.Fatal("the server does not print its address")
	}
	if token, err := os.ReadFile(filepath.Join(home, "app-server-control", "ws-token")); err == nil &&
		strings.HasPrefix(d.URL, "ws:") {
		d.Token = strings.TrimSpace(string(token))
	}
	return d
}

// read collects stderr until the process exits.
func (d *Daemon) read(lines *bufio.Scanner, listening chan struct{}) {
	defer close(d.Exited)
	for lines.Scan() {
		d.Stderr = append(d.Stderr, lines.Text())
		if url, ok := strings.CutPrefix(lines.Text(), "  listening on: "); ok {
			d.URL = url
		}
		if d.URL != "" && listening != nil &&
			(strings.HasPrefix(d.URL, "unix:") || strings.HasPrefix(lines.Text(), "  token: ")) {
			close(listening)
			listening = nil
		}
	}
	d.err = d.Cmd.Wait()
	if listening != nil {
		close(listening)
	}
}

// AwaitExit waits until the server exits and requires status 0.
func (d *Daemon) AwaitExit() {
	d.T.Helper()
	select {
	case <-d.Exited:
		require.NoError(d.T, d.err)
	case <-time.After(Timeout):
		d.T.Fatal("the server does not exit")
	}
}

// Terminate sends SIGTERM and waits for the exit.
func (d *Daemon) Terminate() {
	d.T.Helper()
	require.NoError(d.T, d.Cmd.Process.Signal(syscall.SIGTERM))
	d.AwaitExit()
}

// Socket returns the path of the Unix socket.
func (d *Daemon) Socket() string { return strings.TrimPrefix(d.URL, "unix://") }

// Address returns the base URL of HTTP requests.
func (d *Daemon) Address() string {
	if strings.HasPrefix(d.URL, "unix:") {
		return "http://localhost"
	}
	return "http://" + strings.TrimPrefix(d.URL, "ws://")
}

// http returns an HTTP client that connects to the daemon.
func (d *Daemon) http() *http.Client {
	transport := &http.Transport{DisableKeepAlives: true}
	if strings.HasPrefix(d.URL, "unix:") {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", d.Socket())
		}
	}
	return &http.Client{Transport: transport}
}

// Status sends an HTTP request and returns the status and the body.
func (d *Daemon) Status(path string, header http.Header) (int, string) {
	d.T.Helper()
	request, err := http.NewRequest(http.MethodGet, d.Address()+path, nil)
	require.NoError(d.T, err)
	request.Header = header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	r, err := d.http().Do(request)
	require.NoError(d.T, err)
	defer r.Body.Close()
	if r.StatusCode == http.StatusSwitchingProtocols {
		return r.StatusCode, "" // the body of a WebSocket does not end
	}
	var body strings.Builder
	_, err = bufio.NewReader(r.Body).WriteTo(&body)
	require.NoError(d.T, err)
	return r.StatusCode, strings.TrimSpace(body.String())
}

// UpgradeHeader returns the headers of a WebSocket request, with additional pairs of names and
// values.
func UpgradeHeader(more ...string) http.Header {
	header := http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"},
		"Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="},
	}
	for i := 0; i < len(more); i += 2 {
		header.Set(more[i], more[i+1])
	}
	return header
}

// OpenWebSocket opens a WebSocket to the daemon.
func (d *Daemon) OpenWebSocket() *websocket.Conn {
	d.T.Helper()
	ws, err := d.DialWebSocket(context.Background())
	require.NoError(d.T, err)
	d.T.Cleanup(func() { _ = ws.CloseNow() })
	return ws
}

// DialWebSocket opens a WebSocket to the daemon, from any goroutine. The caller closes it.
func (d *Daemon) DialWebSocket(ctx context.Context) (*websocket.Conn, error) {
	header := http.Header{}
	if d.Token != "" {
		header.Set("Authorization", "Bearer "+d.Token)
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, d.Address(), &websocket.DialOptions{HTTPClient: d.http(), HTTPHeader: header})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(-1)
	return ws, nil
}

// WebSocketClient is a client that is connected by a WebSocket.
type WebSocketClient struct {
	*Client
	Conn *websocket.Conn
}

// Connect returns a client that has not sent initialize.
func (d *Daemon) Connect() *WebSocketClient {
	d.T.Helper()
	return ConnectWebSocket(d.T, d.OpenWebSocket())
}

// ConnectWebSocket returns a client of an open WebSocket that has not sent initialize.
func ConnectWebSocket(t testing.TB, ws *websocket.Conn) *WebSocketClient {
	c := &Client{T: t, In: frameWriter{ws}, Messages: make(chan *Message, 1<<16), Exited: make(chan struct{})}
	go func() {
		defer close(c.Exited)
		defer close(c.Messages)
		for {
			_, line, err := ws.Read(context.Background())
			c.gate()
			if err != nil {
				c.Err = err
				return
			}
			m := &Message{Line: string(line)}
			if json.Unmarshal(line, m) == nil {
				c.Messages <- m
			}
		}
	}()
	t.Cleanup(func() {
		_ = ws.CloseNow()
		<-c.Exited
		c.release()
	})
	return &WebSocketClient{c, ws}
}

// ConnectInitialized returns an initialized client.
func (d *Daemon) ConnectInitialized() *WebSocketClient {
	d.T.Helper()
	c := d.Connect()
	c.Initialize()
	return c
}

// Abort closes the connection without a closing handshake, as an exit of the client does.
func (c *WebSocketClient) Abort() {
	_ = c.Conn.CloseNow()
	<-c.Exited
}

// frameWriter sends each line as one WebSocket message.
type frameWriter struct{ ws *websocket.Conn }

// Write sends one line.
func (w frameWriter) Write(line []byte) (int, error) {
	return len(line), w.ws.Write(context.Background(), websocket.MessageText, line[:len(line)-1])
}

// Close sends a close frame.
func (w frameWriter) Close() error { return w.ws.Close(websocket.StatusNormalClosure, "") }
