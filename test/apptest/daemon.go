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

// Daemon is a server process that any number of clients join.
type Daemon struct {
	T      testing.TB
	Cmd    *exec.Cmd
	Home   string
	URL    string // what it said it listens on
	Token  string // "" on a socket
	Stderr []string
	Exited chan struct{}
	err    error // of the exit, once exited is closed
}

// StartDaemon starts the binary with --listen and waits until it says where it listens.
func StartDaemon(t testing.TB, home, listen string, args ...string) *Daemon {
	t.Helper()
	h := LaunchDaemon(t, OfflineCommand(t, home, append([]string{"--listen", listen}, args...)...), home)
	require.NotEmpty(t, h.URL, "the server ended: %s", strings.Join(h.Stderr, "\n"))
	return h
}

// LaunchDaemon gives a host without url where the process ends.
func LaunchDaemon(t testing.TB, cmd *exec.Cmd, home string) *Daemon {
	t.Helper()
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	h := &Daemon{T: t, Cmd: cmd, Home: home, Exited: make(chan struct{})}
	listening := make(chan struct{})
	go h.read(bufio.NewScanner(stderr), listening)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-h.Exited
		if t.Failed() {
			t.Logf("stderr of the server:\n%s", strings.Join(h.Stderr, "\n"))
		}
	})
	select {
	case <-listening:
	case <-time.After(Timeout):
		t.Fatal("the server does not say where it listens")
	}
	if token, err := os.ReadFile(filepath.Join(home, "app-server-control", "ws-token")); err == nil &&
		strings.HasPrefix(h.URL, "ws:") {
		h.Token = strings.TrimSpace(string(token))
	}
	return h
}

// read ends with the process.
func (h *Daemon) read(lines *bufio.Scanner, listening chan struct{}) {
	defer close(h.Exited)
	for lines.Scan() {
		h.Stderr = append(h.Stderr, lines.Text())
		if url, ok := strings.CutPrefix(lines.Text(), "  listening on: "); ok {
			h.URL = url
		}
		if h.URL != "" && listening != nil &&
			(strings.HasPrefix(h.URL, "unix:") || strings.HasPrefix(lines.Text(), "  token: ")) {
			close(listening)
			listening = nil
		}
	}
	h.err = h.Cmd.Wait()
	if listening != nil {
		close(listening)
	}
}

// AwaitExit waits for the end with status 0.
func (h *Daemon) AwaitExit() {
	h.T.Helper()
	select {
	case <-h.Exited:
		require.NoError(h.T, h.err)
	case <-time.After(Timeout):
		h.T.Fatal("the server does not end")
	}
}

// Terminate tells the server to end, and waits until it has.
func (h *Daemon) Terminate() {
	h.T.Helper()
	require.NoError(h.T, h.Cmd.Process.Signal(syscall.SIGTERM))
	h.AwaitExit()
}

func (h *Daemon) Socket() string { return strings.TrimPrefix(h.URL, "unix://") }

// Address is what to ask over HTTP.
func (h *Daemon) Address() string {
	if strings.HasPrefix(h.URL, "unix:") {
		return "http://localhost"
	}
	return "http://" + strings.TrimPrefix(h.URL, "ws://")
}

// http is a client that reaches the host.
func (h *Daemon) http() *http.Client {
	transport := &http.Transport{DisableKeepAlives: true}
	if strings.HasPrefix(h.URL, "unix:") {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", h.Socket())
		}
	}
	return &http.Client{Transport: transport}
}

// Status is the answer to a request, and its body.
func (h *Daemon) Status(path string, header http.Header) (int, string) {
	h.T.Helper()
	request, err := http.NewRequest(http.MethodGet, h.Address()+path, nil)
	require.NoError(h.T, err)
	request.Header = header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	r, err := h.http().Do(request)
	require.NoError(h.T, err)
	defer r.Body.Close()
	if r.StatusCode == http.StatusSwitchingProtocols {
		return r.StatusCode, "" // what comes next has no end
	}
	var body strings.Builder
	_, err = bufio.NewReader(r.Body).WriteTo(&body)
	require.NoError(h.T, err)
	return r.StatusCode, strings.TrimSpace(body.String())
}

// UpgradeHeader are the headers that ask for a WebSocket.
func UpgradeHeader(more ...string) http.Header {
	h := http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"},
		"Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="},
	}
	for i := 0; i < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	return h
}

// OpenWebSocket is a WebSocket to the host.
func (h *Daemon) OpenWebSocket() *websocket.Conn {
	h.T.Helper()
	header := http.Header{}
	if h.Token != "" {
		header.Set("Authorization", "Bearer "+h.Token)
	}
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, h.Address(), &websocket.DialOptions{HTTPClient: h.http(), HTTPHeader: header})
	require.NoError(h.T, err)
	ws.SetReadLimit(-1)
	h.T.Cleanup(func() { _ = ws.CloseNow() })
	return ws
}

// WebSocketClient is a client on a WebSocket.
type WebSocketClient struct {
	*Client
	Conn *websocket.Conn
}

// Connect is a client of the host that was not initialized.
func (h *Daemon) Connect() *WebSocketClient {
	h.T.Helper()
	ws := h.OpenWebSocket()
	c := &Client{T: h.T, In: frameWriter{ws}, Messages: make(chan Message, 1<<16), Exited: make(chan struct{})}
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
			m := Message{Line: string(line)}
			if json.Unmarshal(line, &m) == nil {
				c.Messages <- m
			}
		}
	}()
	h.T.Cleanup(func() {
		_ = ws.CloseNow()
		<-c.Exited
	})
	return &WebSocketClient{c, ws}
}

// ConnectInitialized is a client that was initialized.
func (h *Daemon) ConnectInitialized() *WebSocketClient {
	h.T.Helper()
	g := h.Connect()
	g.Initialize()
	return g
}

// Abort ends the connection as the end of a process does.
func (g *WebSocketClient) Abort() {
	_ = g.Conn.CloseNow()
	<-g.Exited
}

// frameWriter sends each line as a message.
type frameWriter struct{ ws *websocket.Conn }

// Write takes one line.
func (w frameWriter) Write(line []byte) (int, error) {
	return len(line), w.ws.Write(context.Background(), websocket.MessageText, line[:len(line)-1])
}

// Close says good-bye.
func (w frameWriter) Close() error { return w.ws.Close(websocket.StatusNormalClosure, "") }
