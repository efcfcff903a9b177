package main

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

// daemon is a server process that any number of clients join.
type daemon struct {
	t      testing.TB
	cmd    *exec.Cmd
	home   string
	url    string // what it said it listens on
	token  string // "" on a socket
	stderr []string
	exited chan struct{}
	err    error // of the exit, once exited is closed
}

// startHost starts the binary with --listen and waits until it says where it listens.
func startHost(t testing.TB, home, listen string, args ...string) *daemon {
	t.Helper()
	h := launchHost(t, offlineCommand(t, home, append([]string{"--listen", listen}, args...)...), home)
	require.NotEmpty(t, h.url, "the server ended: %s", strings.Join(h.stderr, "\n"))
	return h
}

// launchHost gives a host without url where the process ends.
func launchHost(t testing.TB, cmd *exec.Cmd, home string) *daemon {
	t.Helper()
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	h := &daemon{t: t, cmd: cmd, home: home, exited: make(chan struct{})}
	listening := make(chan struct{})
	go h.read(bufio.NewScanner(stderr), listening)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-h.exited
		if t.Failed() {
			t.Logf("stderr of the server:\n%s", strings.Join(h.stderr, "\n"))
		}
	})
	select {
	case <-listening:
	case <-time.After(patience):
		t.Fatal("the server does not say where it listens")
	}
	if token, err := os.ReadFile(filepath.Join(home, "app-server-control", "ws-token")); err == nil && strings.HasPrefix(h.url, "ws:") {
		h.token = strings.TrimSpace(string(token))
	}
	return h
}

// read ends with the process.
func (h *daemon) read(lines *bufio.Scanner, listening chan struct{}) {
	defer close(h.exited)
	for lines.Scan() {
		h.stderr = append(h.stderr, lines.Text())
		if url, ok := strings.CutPrefix(lines.Text(), "  listening on: "); ok {
			h.url = url
		}
		if h.url != "" && listening != nil && (strings.HasPrefix(h.url, "unix:") || strings.HasPrefix(lines.Text(), "  token: ")) {
			close(listening)
			listening = nil
		}
	}
	h.err = h.cmd.Wait()
	if listening != nil {
		close(listening)
	}
}

// awaitExit waits for the end with status 0.
func (h *daemon) awaitExit() {
	h.t.Helper()
	select {
	case <-h.exited:
		require.NoError(h.t, h.err)
	case <-time.After(patience):
		h.t.Fatal("the server does not end")
	}
}

// end tells the server to end, and waits until it has.
func (h *daemon) end() {
	h.t.Helper()
	require.NoError(h.t, h.cmd.Process.Signal(syscall.SIGTERM))
	h.awaitExit()
}

func (h *daemon) socket() string { return strings.TrimPrefix(h.url, "unix://") }

// address is what to ask over HTTP.
func (h *daemon) address() string {
	if strings.HasPrefix(h.url, "unix:") {
		return "http://localhost"
	}
	return "http://" + strings.TrimPrefix(h.url, "ws://")
}

// http is a client that reaches the host.
func (h *daemon) http() *http.Client {
	transport := &http.Transport{DisableKeepAlives: true}
	if strings.HasPrefix(h.url, "unix:") {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", h.socket())
		}
	}
	return &http.Client{Transport: transport}
}

// status is the answer to a request, and its body.
func (h *daemon) status(path string, header http.Header) (int, string) {
	h.t.Helper()
	request, err := http.NewRequest(http.MethodGet, h.address()+path, nil)
	require.NoError(h.t, err)
	request.Header = header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	r, err := h.http().Do(request)
	require.NoError(h.t, err)
	defer r.Body.Close()
	if r.StatusCode == http.StatusSwitchingProtocols {
		return r.StatusCode, "" // what comes next has no end
	}
	var body strings.Builder
	_, err = bufio.NewReader(r.Body).WriteTo(&body)
	require.NoError(h.t, err)
	return r.StatusCode, strings.TrimSpace(body.String())
}

// upgrade are the headers that ask for a WebSocket.
func upgrade(more ...string) http.Header {
	h := http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"},
		"Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="},
	}
	for i := 0; i < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	return h
}

// open is a WebSocket to the host.
func (h *daemon) open() *websocket.Conn {
	h.t.Helper()
	header := http.Header{}
	if h.token != "" {
		header.Set("Authorization", "Bearer "+h.token)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, h.address(), &websocket.DialOptions{HTTPClient: h.http(), HTTPHeader: header})
	require.NoError(h.t, err)
	ws.SetReadLimit(-1)
	h.t.Cleanup(func() { _ = ws.CloseNow() })
	return ws
}

// guest is a client on a WebSocket.
type guest struct {
	*client
	ws *websocket.Conn
}

// join is a client of the host that was not initialized.
func (h *daemon) join() *guest {
	h.t.Helper()
	ws := h.open()
	c := &client{t: h.t, in: frameWriter{ws}, messages: make(chan message, 1<<16), exited: make(chan struct{})}
	go func() {
		defer close(c.exited)
		defer close(c.messages)
		for {
			_, line, err := ws.Read(context.Background())
			c.gate()
			if err != nil {
				c.err = err
				return
			}
			m := message{line: string(line)}
			if json.Unmarshal(line, &m) == nil {
				c.messages <- m
			}
		}
	}()
	h.t.Cleanup(func() {
		_ = ws.CloseNow()
		<-c.exited
	})
	return &guest{c, ws}
}

// welcome is a client that was initialized.
func (h *daemon) welcome() *guest {
	h.t.Helper()
	g := h.join()
	g.initialize()
	return g
}

// vanish ends the connection as the end of a process does.
func (g *guest) vanish() {
	_ = g.ws.CloseNow()
	<-g.exited
}

// frameWriter sends each line as a message.
type frameWriter struct{ ws *websocket.Conn }

// Write takes one line.
func (w frameWriter) Write(line []byte) (int, error) {
	return len(line), w.ws.Write(context.Background(), websocket.MessageText, line[:len(line)-1])
}

// Close says good-bye.
func (w frameWriter) Close() error { return w.ws.Close(websocket.StatusNormalClosure, "") }
