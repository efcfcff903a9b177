package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/posix"
	"appserver/test/sample"
)

// bothTransports runs a test on a port and on a socket.
func bothTransports(t *testing.T, run func(t *testing.T, listen string)) {
	for name, listen := range map[string]string{"port": "ws://127.0.0.1:0", "socket": "unix://"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, listen)
		})
	}
}

// shortAddress replaces unix:// by an address with a short path.
func shortAddress(t testing.TB, listen string) string {
	if listen == "unix://" {
		listen += filepath.Join(apptest.ShortDir(t), "s")
	}
	return listen
}

// TestListenServesManyClients requires that each client gets the notifications of its
// subscriptions.
func TestListenServesManyClients(t *testing.T) {
	t.Parallel()
	bothTransports(t, func(t *testing.T, listen string) {
		h := apptest.StartDaemon(t, apptest.ShortDir(t), listen)
		a, b := h.ConnectInitialized(), h.ConnectInitialized()
		mine, yours := a.StartTrusted(), b.StartTrusted()
		require.Equal(t, "completed", a.Turn(mine, "hello from a").Status)
		require.Equal(t, "completed", b.Turn(yours, "hello from b").Status)
		for g, other := range map[*apptest.WebSocketClient]string{a: yours, b: mine} {
			for _, m := range g.Seen {
				if strings.HasPrefix(m.Method, "item/") || strings.HasPrefix(m.Method, "turn/") {
					require.NotContains(t, m.Line, other, "a client without a subscription got a notification")
				}
			}
		}

		b.Call("thread/resume", apptest.Object{"threadId": mine})
		a.BeginTurn(mine, "for both")
		require.Equal(t, a.AwaitTurn().ID, b.AwaitTurn().ID)
		b.Call("thread/unsubscribe", apptest.Object{"threadId": mine})
		require.Equal(t, "completed", a.Turn(mine, "for one").Status)
		read := len(b.Seen)
		b.Call("thread/loaded/list", apptest.Object{})
		for _, m := range b.Seen[read:] {
			require.NotContains(t, m.Method, "turn/", "a response overtook a notification")
		}
		h.Terminate()
	})
}

// TestListenKeepsThreadsWithoutClients disconnects a client during a turn. Another client gets the
// end of the turn.
func TestListenKeepsThreadsWithoutClients(t *testing.T) {
	t.Parallel()
	bothTransports(t, func(t *testing.T, listen string) {
		dir := t.TempDir()
		require.NoError(t, posix.Mkfifo(filepath.Join(dir, "gate"), 0o600))
		p := apptest.NewProvider(t, apptest.ShellAnswer("x", "echo begun; cat gate; echo done"),
			apptest.TextAnswer("That was it."))
		h := apptest.LaunchDaemon(t, apptest.ServerCommand(t, p.Home(t), "--listen", shortAddress(t, listen)), "")
		if strings.HasPrefix(listen, "ws:") {
			h.Token = tokenAt(t, h)
		}
		a := h.ConnectInitialized()
		id := a.StartThread(apptest.Object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
		turn := a.BeginTurn(id, "go")
		a.UntilOutput("begun\n")
		a.Abort()

		b := h.ConnectInitialized()
		resumed := b.CallThread("thread/resume", apptest.Object{"threadId": id})
		require.Equal(t, "inProgress", resumed.Turns[len(resumed.Turns)-1].Status)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "gate"), []byte("opened\n"), 0o600))
		b.Until(func(m apptest.Message) bool { // deltas may be merged
			return m.Method == "item/commandExecution/outputDelta" && strings.Contains(m.Line, `opened\n`)
		})
		ended := b.AwaitTurn()
		require.Equal(t, turn, ended.ID)
		require.Equal(t, "completed", ended.Status)
		require.Equal(t, "That was it.", ended.Items[0].Text)
		h.Terminate()
	})
}

// tokenAt returns the token in the file that the server printed.
func tokenAt(t *testing.T, h *apptest.Daemon) string {
	t.Helper()
	for _, line := range h.Stderr {
		if path, ok := strings.CutPrefix(line, "  token: in "); ok {
			token, err := os.ReadFile(path)
			require.NoError(t, err)
			return strings.TrimSpace(string(token))
		}
	}
	t.Fatal("no token was named")
	return ""
}

// TestListenRepeatsPendingApprovals disconnects a client with a pending approval. The next client
// gets it with the same id, and the command runs when it is accepted.
func TestListenRepeatsPendingApprovals(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.ShellAnswer("x", "touch made"), apptest.TextAnswer("Made."))
	dir := t.TempDir()
	h := apptest.LaunchDaemon(t, apptest.ServerCommand(t, p.Home(t), "--listen", shortAddress(t, "unix://")), "")
	a := h.ConnectInitialized()
	id := a.StartThread(apptest.Object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "untrusted"})
	a.BeginTurn(id, "go")
	approval := a.UntilMethod("item/commandExecution/requestApproval")
	a.Abort()

	b := h.ConnectInitialized()
	b.SendRequest("thread/resume", apptest.Object{"threadId": id})
	again := b.UntilMethod("item/commandExecution/requestApproval")
	require.Equal(t, string(approval.ID), string(again.ID))
	require.NoFileExists(t, filepath.Join(dir, "made"))
	b.Send(apptest.Object{"id": again.ID, "result": apptest.Object{"decision": "accept"}})
	require.Equal(t, "completed", b.AwaitTurn().Status)
	require.FileExists(t, filepath.Join(dir, "made"))
	h.Terminate()
}

// TestListenRequiresToken rejects requests without the token, and any request of a web page.
func TestListenRequiresToken(t *testing.T) {
	t.Parallel()
	h := apptest.StartDaemon(t, t.TempDir(), "ws://127.0.0.1:0")
	bearer := "Bearer " + h.Token
	for _, c := range []struct {
		header  []string
		status  int
		message string
	}{
		{nil, 401, "missing websocket bearer token"},
		{[]string{"Authorization", "Bearer " + h.Token + "x"}, 401, "invalid websocket bearer token"},
		{[]string{"Authorization", "Bearer "}, 401, "invalid websocket bearer token"},
		{[]string{"Authorization", "Bearer"}, 401, "invalid websocket bearer token"},
		{[]string{"Authorization", "Basic " + h.Token}, 401, "invalid authorization header"},
		{[]string{"Authorization", h.Token}, 401, "invalid authorization header"},
		{[]string{"Sec-Websocket-Protocol", h.Token}, 401, "missing websocket bearer token"},
		{[]string{"Authorization", bearer, "Origin", "http://evil.example"}, 403, ""},
		{[]string{"Authorization", bearer, "Origin", h.Address()}, 403, ""},
		{[]string{"Authorization", bearer, "Origin", "null"}, 403, ""},
		{[]string{"Authorization", bearer, "Origin", ""}, 403, ""},
	} {
		status, body := h.Status("/", apptest.UpgradeHeader(c.header...))
		require.Equal(t, c.status, status, "%v: %s", c.header, body)
		require.Contains(t, body, c.message, "%v", c.header)
	}
	status, _ := h.Status("/?token="+h.Token, apptest.UpgradeHeader())
	require.Equal(t, 401, status, "tokens in URLs would be logged")
	status, _ = h.Status("/", http.Header{"Authorization": {bearer}})
	require.Equal(t, 426, status, "the request has no upgrade")
	status, _ = h.Status("/any/path", apptest.UpgradeHeader("Authorization", "bearer "+h.Token))
	require.Equal(t, 101, status, "the scheme is case-insensitive")
	for _, path := range []string{"/readyz", "/healthz"} {
		status, body := h.Status(path, nil)
		require.Equal(t, 200, status)
		require.Empty(t, body)
		status, _ = h.Status(path, http.Header{"Origin": {"http://evil.example"}})
		require.Equal(t, 403, status)
	}
	h.Terminate()
}

// TestListenAcceptsConfiguredTokens accepts tokens by the flags of the reference implementation.
func TestListenAcceptsConfiguredTokens(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(" secret \n"), 0o600))
	const digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b" // SHA-256 of "secret"
	for name, args := range map[string][]string{
		"file":   {"--ws-auth", "capability-token", "--ws-token-file", file},
		"alone":  {"--ws-token-file", file},
		"digest": {"--ws-auth", "capability-token", "--ws-token-sha256", digest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			h := apptest.StartDaemon(t, home, "ws://127.0.0.1:0", args...)
			require.Empty(t, h.Token)
			require.NoFileExists(t, filepath.Join(home, "app-server-control", "ws-token"))
			status, _ := h.Status("/", apptest.UpgradeHeader("Authorization", "Bearer secrets"))
			require.Equal(t, 401, status)
			h.Token = "secret"
			h.ConnectInitialized().StartTrusted()
			require.NotContains(t, strings.Join(h.Stderr, "\n"), "secret\n", "the log contains the token")
			h.Terminate()
		})
	}
}

// TestListenKeepsToken keeps the token over restarts, readable by its user only.
func TestListenKeepsToken(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	first := apptest.StartDaemon(t, home, "ws://127.0.0.1:0")
	require.GreaterOrEqual(t, len(first.Token), 26, "128 bits at least")
	info, err := os.Stat(filepath.Join(home, "app-server-control", "ws-token"))
	require.NoError(t, err)
	require.Equal(t, "-rw-------", info.Mode().String())
	require.Contains(t, first.Stderr, "  readyz: "+first.Address()+"/readyz")
	first.Terminate()
	second := apptest.StartDaemon(t, home, "ws://[::1]:0")
	require.Equal(t, first.Token, second.Token)
	second.ConnectInitialized()
	second.Terminate()
	require.NotEqual(t, first.Token, apptest.StartDaemon(t, t.TempDir(), "ws://127.0.0.1:0").Token)
}

// TestListenSocketIsPrivate creates the socket for its user only, and removes it on exit.
func TestListenSocketIsPrivate(t *testing.T) {
	t.Parallel()
	home := apptest.ShortDir(t)
	path := filepath.Join(home, "app-server-control", "app-server-control.sock")
	h := apptest.StartDaemon(t, home, "unix://")
	require.Equal(t, "unix://"+path, h.URL)
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, "Srw-------", info.Mode().String())
	dir, err := os.Stat(filepath.Dir(path))
	require.NoError(t, err)
	require.Equal(t, "drwx------", dir.Mode().String())

	live := apptest.LaunchDaemon(t, apptest.OfflineCommand(t, home, "--listen", "unix://"), home)
	<-live.Exited
	require.Equal(t, 1, live.Cmd.ProcessState.ExitCode())
	require.Contains(t, live.Stderr[0], "app-server control socket is already in use at "+path)
	status, _ := h.Status("/readyz", nil)
	require.Equal(t, 200, status)
	h.ConnectInitialized()

	require.NoError(t, h.Cmd.Process.Kill())
	<-h.Exited
	require.FileExists(t, path, "a killed server leaves its socket")
	again := apptest.StartDaemon(t, home, "unix://")
	again.ConnectInitialized().StartTrusted()
	again.Terminate()
	require.NoFileExists(t, path)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "the lock file stays")
}

// TestListenRejectsUnsafeAddresses rejects addresses that are unsafe or cannot be found.
func TestListenRejectsUnsafeAddresses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	other := filepath.Join(t.TempDir(), "other.sock")
	foreign, err := net.Listen("unix", other)
	require.NoError(t, err)
	defer foreign.Close()
	for _, c := range []struct {
		status  int
		message string
		args    []string
	}{
		{1, "is not a socket", []string{"--listen", "unix://" + file}},
		{1, "already in use", []string{"--listen", "unix://" + other}},
		{1, "address already in use", []string{"--listen", "ws://" + taken.Addr().String()}},
		{2, "other machines can reach", []string{"--listen", "ws://0.0.0.0:0"}},
		{2, "other machines can reach", []string{"--listen", "ws://[::]:0", "--ws-token-file", file}},
		{2, "expected ws://IP:PORT", []string{"--listen", "ws://localhost:80"}},
		{2, "expected ws://IP:PORT", []string{"--listen", "ws://127.0.0.1"}},
		{2, "expected stdio://", []string{"--listen", "off"}},
		{2, "expected stdio://", []string{"--listen", "http://127.0.0.1:80"}},
		{2, "use one of at most", []string{"--listen", "unix:///" + strings.Repeat("x", 108)}},
		{2, "cannot be used with --stdio", []string{"--listen", "unix://", "--stdio"}},
		{2, "--ws-auth must be", []string{"--listen", "ws://127.0.0.1:0", "--ws-auth", "none"}},
		{2, "mutually exclusive",
			[]string{"--listen", "ws://127.0.0.1:0", "--ws-token-file", file, "--ws-token-sha256", "00"}},
		{2, "is required", []string{"--listen", "ws://127.0.0.1:0", "--ws-auth", "signed-bearer-token"}},
		{2, "require --ws-auth capability-token",
			[]string{"--listen", "ws://127.0.0.1:0", "--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", file,
				"--ws-token-file", file}},
		{2, "not 9223372037",
			[]string{"--listen", "ws://127.0.0.1:0", "--ws-max-clock-skew-seconds", "9223372037"}}, // longer than a duration
		{2, "require --ws-auth signed-bearer-token", []string{"--listen", "ws://127.0.0.1:0", "--ws-issuer", "me"}},
		{1, "use one of at least 32",
			[]string{"--listen", "ws://127.0.0.1:0", "--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", file}},
		{1, "64-character hex", []string{"--listen", "ws://127.0.0.1:0", "--ws-token-sha256", "abcd"}},
		{1, "failed to read websocket auth secret",
			[]string{"--listen", "ws://127.0.0.1:0", "--ws-token-file", file + ".no"}},
	} {
		h := apptest.LaunchDaemon(t, apptest.OfflineCommand(t, t.TempDir(), c.args...), "")
		<-h.Exited
		require.Equal(t, c.status, h.Cmd.ProcessState.ExitCode(), "%v", c.args)
		require.Contains(t, h.Stderr[0], c.message, "%v", c.args)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "mine", string(text))
	require.FileExists(t, other)
}

// TestListenAnswersInvalidMessages sends invalid messages by a WebSocket. Each has a response, and
// the connection stays open.
func TestListenAnswersInvalidMessages(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	h := apptest.StartDaemon(t, apptest.ShortDir(t), "unix://")
	g := h.ConnectInitialized()
	text, ctx := websocket.MessageText, context.Background()
	long := `{"id":1,"method":"thread/loaded/list","params":{"x":"` + strings.Repeat("x", 20<<20) + `"}}`
	for _, c := range []struct {
		kind    websocket.MessageType
		message string
		id      string
		code    int
	}{
		{text, "nonsense", "null", -32700},
		{text, "", "", 0},
		{text, "\n", "", 0},
		{text, `{"id":1,"method":"thread/loaded/list"}{"id":2,"method":"thread/loaded/list"}`, "null", -32700},
		{text, "{\n  \"id\": 7,\n  \"method\": \"thread/loaded/list\",\n  \"params\": {}\n}\n", "7", 0},
		{text, `[{"id":8,"method":"thread/loaded/list","params":{}}]`, "", 0},
		{websocket.MessageBinary, `{"id":1,"method":"thread/loaded/list"}`, "null", -32600},
		{websocket.MessageBinary, "", "null", -32600},
		{text, long, "1", 0},
		{text, strings.Repeat(" ", 64<<20+1), "null", -32600},
		{text, "{\"id\":\"\xff\",\"method\":\"x\"}", "null", -32600},
	} {
		require.NoError(t, g.Conn.Write(ctx, c.kind, []byte(c.message)))
		if c.id == "" {
			continue
		}
		m := g.Until(func(m apptest.Message) bool { return m.Method == "" && string(m.ID) == c.id })
		if c.code != 0 {
			require.NotNil(t, m.Error, "%.60q", c.message)
			require.Equal(t, c.code, m.Error.Code, "%.60q", c.message)
		} else {
			require.Nil(t, m.Error, "%.60q", c.message)
		}
	}
	w, err := g.Conn.Writer(ctx, text)
	require.NoError(t, err)
	for part := range strings.SplitSeq(`{"id":9,|"method":"thread/loa|ded/list","params":{}}`, "|") {
		_, err := io.WriteString(w, part)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.Nil(t, g.UntilResponse("9").Error, "a message in several frames")
	for _, m := range g.Seen {
		require.NotContains(t, m.Line, "\n", "one message a frame")
	}
	g.StartTrusted()
	h.Terminate()
}

// TestListenSurvivesInvalidBytes sends bytes that are no HTTP, and partial WebSocket frames.
func TestListenSurvivesInvalidBytes(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	bothTransports(t, func(t *testing.T, listen string) {
		h := apptest.StartDaemon(t, apptest.ShortDir(t), listen)
		network, address := "unix", h.Socket()
		if h.Token != "" {
			network, address = "tcp", strings.TrimPrefix(h.URL, "ws://")
		}
		hello := "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + h.Token +
			"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
		for _, bytes := range []string{
			`{"id":0,"method":"initialize"}` + "\n", "\x00\xff\x16\x03\x01", "GET / HTTP/1.1\r\nX: " +
				strings.Repeat("x", 1<<20) + "\r\n\r\n",
			hello + "\x81\x02{}",               // without a mask
			hello + "\x8f\x80\x00\x00\x00\x00", // unknown opcode
			hello + "\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00", // negative length
			hello + "\x80\x80\x00\x00\x00\x00",                                 // continuation without a start
		} {
			c, err := net.Dial(network, address)
			require.NoError(t, err)
			_, _ = io.WriteString(c, bytes) // the server may close before all is written
			require.NoError(t, c.SetReadDeadline(time.Now().Add(apptest.Timeout)))
			_, err = io.Copy(io.Discard, c)
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "%.40q: the connection stays open", bytes)
			require.NoError(t, c.Close())
		}
		h.ConnectInitialized().StartTrusted()
		h.Terminate()
	})
}

// TestListenReleasesLostClients connects and loses hundreds of clients. No resource is left.
func TestListenReleasesLostClients(t *testing.T) {
	t.Parallel()
	h := apptest.StartDaemon(t, apptest.ShortDir(t), "unix://")
	stays := h.ConnectInitialized()
	id := stays.StartTrusted()
	count := func() (clients, files int) {
		var d struct{ Connections []struct{} }
		require.NoError(t, json.Unmarshal(stays.Call("server/diagnostics", apptest.Object{}), &d))
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", h.Cmd.Process.Pid))
		require.NoError(t, err)
		return len(d.Connections), len(open)
	}
	_, before := count()
	for i := range 200 {
		g := h.ConnectInitialized()
		g.Send(apptest.Object{"id": "r", "method": "thread/resume", "params": apptest.Object{"threadId": id}})
		switch i % 3 {
		case 0:
			g.Abort()
		case 1:
			require.NoError(t, g.In.Close())
		case 2:
			g.UntilResponse(`"r"`)
			g.Abort()
		}
	}
	require.Eventually(t, func() bool {
		clients, files := count()
		return clients == 1 && files <= before
	}, apptest.Timeout, 10*time.Millisecond)
	require.Equal(t, "completed", stays.Turn(id, "still there").Status)
	h.Terminate()
}

// TestListenShutdownOrder interrupts turns, notifies clients, closes connections and exits.
func TestListenShutdownOrder(t *testing.T) {
	t.Parallel()
	bothTransports(t, func(t *testing.T, listen string) {
		p := apptest.NewProvider(t, apptest.ShellAnswer("x", "echo begun; sleep 1000"))
		h := apptest.LaunchDaemon(t, apptest.ServerCommand(t, p.Home(t), "--listen", shortAddress(t, listen)), "")
		if strings.HasPrefix(listen, "ws:") {
			h.Token = tokenAt(t, h)
		}
		a, b, silent := h.ConnectInitialized(), h.ConnectInitialized(), h.Connect()
		id := a.StartTrusted()
		b.Call("thread/resume", apptest.Object{"threadId": id})
		a.BeginTurn(id, "go")
		a.UntilOutput("begun\n")
		require.NoError(t, h.Cmd.Process.Signal(syscall.SIGTERM))
		require.Equal(t, "interrupted", a.AwaitTurn().Status)
		require.Equal(t, "interrupted", b.AwaitTurn().Status)
		for _, g := range []*apptest.WebSocketClient{a, b, silent} {
			g.Drain()
			require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(g.Err), "%v", g.Err)
		}
		h.AwaitExit()
	})
}

// TestListenSurvivesInputAndParent keeps serving after its input closes and its parent exits,
// unless configured otherwise.
func TestListenSurvivesInputAndParent(t *testing.T) {
	t.Parallel()
	home := apptest.ShortDir(t)
	path := filepath.Join(home, "s")
	cmd := apptest.ThroughShell(apptest.OfflineCommand(t, home, "--listen", "unix://"+path),
		`"$@" </dev/null >/dev/null 2>/dev/null & echo $!`)
	out, err := cmd.Output()
	require.NoError(t, err)
	var pid int
	_, err = fmt.Sscan(string(out), &pid)
	require.NoError(t, err)
	t.Cleanup(func() { _ = posix.Kill(pid, syscall.SIGKILL) })
	require.Eventually(t, func() bool { _, err := os.Lstat(path); return err == nil }, apptest.Timeout, time.Millisecond)
	h := &apptest.Daemon{T: t, Home: home, URL: "unix://" + path}
	g := h.ConnectInitialized()
	require.Equal(t, "completed", g.Turn(g.StartTrusted(), "still there").Status)
	require.NoError(t, posix.Kill(pid, syscall.SIGTERM))
	g.Drain()
	require.Eventually(t, func() bool { _, err := os.Lstat(path); return err != nil }, apptest.Timeout, time.Millisecond)
}

// TestProxyCopiesBytes connects pipes to a socket.
func TestProxyCopiesBytes(t *testing.T) {
	t.Parallel()
	home := apptest.ShortDir(t)
	h := apptest.StartDaemon(t, home, "unix://"+filepath.Join(home, "s"))
	for _, args := range [][]string{{"proxy", "--sock", h.Socket()}, {"app-server", "proxy", "--sock", h.Socket()}} {
		cmd := apptest.ServerCommand(t, home, args...)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = io.WriteString(in, "GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		require.NoError(t, err)
		r, err := http.ReadResponse(bufio.NewReader(out), nil)
		require.NoError(t, err)
		require.Equal(t, 200, r.StatusCode)
		require.NoError(t, cmd.Wait(), "the proxy exits with the connection")
	}
	h.Terminate()
	text, err := apptest.ServerCommand(t, home, "proxy", "--sock", h.Socket()).Output()
	require.Error(t, err)
	require.Empty(t, text)
}

// TestOtherMachinesNeedAToken listens on all addresses.
func TestOtherMachinesNeedAToken(t *testing.T) {
	t.Parallel()
	d := apptest.StartDaemon(t, t.TempDir(), "ws://0.0.0.0:0", "--ws-auth", "capability-token")
	_, port, ok := strings.Cut(strings.TrimPrefix(d.URL, "ws://"), "]:")
	if !ok {
		_, port, _ = strings.Cut(d.URL, "0.0.0.0:")
	}
	d.URL = "ws://127.0.0.1:" + port
	require.NotEmpty(t, d.Token)
	status, _ := d.Status("/", apptest.UpgradeHeader())
	require.Equal(t, http.StatusUnauthorized, status)
	d.ConnectInitialized()
}
