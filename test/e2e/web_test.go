package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// workbench is the page of a running server.
type workbench struct {
	t          *testing.T
	url, file  string
	cmd        *exec.Cmd // of the command web, if it is the server
	out, token string
}

// launchWeb starts the command web without a browser, and waits until it serves the page.
func launchWeb(t *testing.T, home string, args ...string) *workbench {
	t.Helper()
	cmd := apptest.OfflineCommand(t, home, append([]string{"--log-level", "debug", "web", "--no-open"}, args...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	w := &workbench{t: t, cmd: cmd}
	lines := bufio.NewScanner(out)
	for range 4 {
		require.True(t, lines.Scan(), "the command exited")
		w.out += lines.Text() + "\n"
	}
	w.url, w.file = printed(t, w.out)
	return w
}

// printed returns the address and the ticket file that the command web printed.
func printed(t *testing.T, out string) (url, file string) {
	t.Helper()
	found := regexp.MustCompile(`^page: (http://\S+)\nfile: (\S+)\n`).FindStringSubmatch(out)
	require.Len(t, found, 3, out)
	return found[1], found[2]
}

// ticket returns the ticket in the file.
func (w *workbench) ticket() string {
	w.t.Helper()
	text, err := os.ReadFile(w.file)
	require.NoError(w.t, err)
	_, rest, found := strings.Cut(string(text), "content=\"0;url="+w.url+"/#ticket=")
	require.True(w.t, found, "%s", text)
	ticket, _, _ := strings.Cut(rest, `"`)
	return ticket
}

// request sends a request of a browser and returns the response with its body.
func (w *workbench) request(method, path, body string, headers ...string) (*http.Response, string) {
	w.t.Helper()
	r, err := http.NewRequest(method, w.url+path, strings.NewReader(body))
	require.NoError(w.t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r.Host = r.Header.Get("Host")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	response, err := client.Do(r)
	require.NoError(w.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	return response, string(text)
}

// signIn exchanges a ticket for the token, and returns the status.
func (w *workbench) signIn(ticket string) int {
	w.t.Helper()
	r, text := w.request("POST", "/session", `{"ticket":"`+ticket+`"}`, "Content-Type", "application/json",
		"Origin", w.url)
	var session struct{ Token string }
	if r.StatusCode == http.StatusOK {
		require.NoError(w.t, json.Unmarshal([]byte(text), &session))
		w.token = session.Token
	}
	return r.StatusCode
}

// connect returns an initialized client as the page is one.
func (w *workbench) connect() *apptest.WebSocketClient {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), apptest.Timeout)
	defer cancel()
	ws, r, err := websocket.Dial(ctx, w.url+"/ws", &websocket.DialOptions{
		Subprotocols: []string{"appserver.v1", "bearer." + w.token}, HTTPHeader: http.Header{"Origin": {w.url}}})
	require.NoError(w.t, err)
	require.Equal(w.t, "appserver.v1", r.Header.Get("Sec-WebSocket-Protocol"))
	ws.SetReadLimit(-1)
	c := apptest.ConnectWebSocket(w.t, ws)
	c.Initialize()
	return c
}

// stderr returns the content of standard error of a command of apptest.
func stderr(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	text, err := os.ReadFile(cmd.Stderr.(*os.File).Name())
	require.NoError(t, err)
	return string(text)
}

// TestWebShowsThreadsOfAnotherTransport follows one thread on standard input and output, and in the
// page that the command web opens.
func TestWebShowsThreadsOfAnotherTransport(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := apptest.OfflineCommand(t, home, "--web", "127.0.0.1:0")
	editor := apptest.StartProcess(t, cmd)
	editor.Initialize()
	id := editor.StartTrusted()
	status, out, errs := apptest.Execute(t, home, "web", "--no-open")
	require.Equal(t, 0, status, errs)
	w := &workbench{t: t}
	w.url, w.file = printed(t, out)
	require.Contains(t, stderr(t, cmd), "appserver web\n  page: "+w.url+"\n")
	require.Contains(t, out, "was running already")
	require.Equal(t, 200, w.signIn(w.ticket()))

	page := w.connect()
	page.Call("thread/resume", apptest.Object{"threadId": id})
	editor.BeginTurn(id, "hello from the editor")
	require.Equal(t, editor.AwaitTurn().ID, page.AwaitTurn().ID)
	page.BeginTurn(id, "hello from the page")
	require.Equal(t, page.AwaitTurn().ID, editor.AwaitTurn().ID)
	require.Len(t, editor.ReadThread(id).Turns, 2)

	editor.Close()
	editor.AwaitExit()
	<-page.Exited
	require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(page.Err), "the page follows the editor's server")
	left, err := os.ReadDir(filepath.Dir(w.file))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestWebShowsThreadsOfASocket follows one thread on a socket and in the page.
func TestWebShowsThreadsOfASocket(t *testing.T) {
	t.Parallel()
	home := apptest.ShortDir(t)
	h := apptest.StartDaemon(t, home, "unix://", "--web", "[::1]:0")
	a := h.ConnectInitialized()
	id := a.StartTrusted()
	_, out, _ := apptest.Execute(t, home, "web", "--no-open")
	w := &workbench{t: t}
	w.url, w.file = printed(t, out)
	require.Equal(t, 200, w.signIn(w.ticket()))
	b := w.connect()
	b.Call("thread/resume", apptest.Object{"threadId": id})
	a.BeginTurn(id, "for both")
	require.Equal(t, a.AwaitTurn().ID, b.AwaitTurn().ID)
	h.Terminate()
}

// TestWebOpensSecondTab opens the page of a running server again. Both tabs keep the token.
func TestWebOpensSecondTab(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	w := launchWeb(t, home)
	first := w.ticket()
	require.Equal(t, 200, w.signIn(first))
	require.NoFileExists(t, w.file)
	w.connect()
	require.Equal(t, 403, w.signIn(first), "a ticket works once")

	status, out, errs := apptest.Execute(t, home, "web", "--no-open")
	require.Equal(t, 0, status, errs)
	url, file := printed(t, out)
	require.Equal(t, w.url, url)
	require.Equal(t, w.file, file)
	second := w.ticket()
	require.Equal(t, 200, w.signIn(second))
	w.connect()
	r, _ := w.request("GET", "/session", "", "Authorization", "Bearer "+w.token)
	require.Equal(t, 204, r.StatusCode, "a reload keeps the token")

	arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", w.cmd.Process.Pid))
	require.NoError(t, err)
	for _, secret := range []string{first, second, w.token} {
		require.NotEmpty(t, secret)
		for _, public := range []string{w.out, out, errs, stderr(t, w.cmd), string(arguments)} {
			require.NotContains(t, public, secret)
		}
	}
}

// TestWebFindsServersByAddress starts two servers in one home, and kills them.
func TestWebFindsServersByAddress(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := launchWeb(t, home)
	b := launchWeb(t, home, "--listen", "127.0.0.1:0")
	require.NotEqual(t, a.url, b.url, "port 0 starts a new server")
	status, out, errs := apptest.Execute(t, home, "web", "--no-open")
	require.Equal(t, 1, status)
	require.Empty(t, out)
	require.Contains(t, errs, "2 servers of this home have a page")
	require.Contains(t, errs, a.url)
	require.Contains(t, errs, b.url)
	status, out, _ = apptest.Execute(t, home, "web", "--no-open", "--listen", strings.TrimPrefix(b.url, "http://"))
	require.Equal(t, 0, status)
	require.Contains(t, out, b.url)

	for _, w := range []*workbench{a, b} {
		require.NoError(t, w.cmd.Process.Kill())
		_ = w.cmd.Wait()
		require.FileExists(t, strings.TrimSuffix(w.file, ".html")+".page", "a killed server leaves its record")
	}
	c := launchWeb(t, home)
	require.NotContains(t, c.out, "running already")
	files, err := os.ReadDir(filepath.Join(home, "appserver-web"))
	require.NoError(t, err)
	require.Len(t, files, 2, "only the new server has files")
	require.Equal(t, 200, c.signIn(c.ticket()))
	page := c.connect()
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, c.cmd.Wait())
	<-page.Exited
	require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(page.Err))
}

// TestWebOpensBrowser replaces the program that opens a browser.
func TestWebOpensBrowser(t *testing.T) {
	t.Parallel()
	home, bin := t.TempDir(), t.TempDir()
	w := launchWeb(t, home)
	open := func(script string) (status int, out, errs string) {
		program := filepath.Join(bin, "xdg-open")
		require.NoError(t, os.RemoveAll(program))
		if script != "" {
			require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
		}
		cmd := apptest.OfflineCommand(t, home, "web")
		cmd.Env = append(cmd.Env, "PATH="+bin)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	}
	arguments := filepath.Join(bin, "arguments")
	status, out, errs := open(`echo "$#" "$@" > ` + arguments + `; echo noise; echo noise >&2`)
	require.Equal(t, 0, status, errs)
	require.Empty(t, errs)
	require.NotContains(t, out, "noise")
	text, err := os.ReadFile(arguments)
	require.NoError(t, err)
	require.Equal(t, "1 "+w.file+"\n", string(text), "the list of processes shows the path only")
	for script, cause := range map[string]string{"exit 3": "xdg-open: exit status 3", "": "executable file not found"} {
		status, out, errs = open(script)
		require.Equal(t, 1, status)
		require.Contains(t, out, w.file, "the user can open the file")
		require.Contains(t, errs, "cannot open a browser (xdg-open: ")
		require.Contains(t, errs, cause)
		require.Contains(t, errs, "open the file yourself")
	}
}

// TestWebServesPage loads the page and everything that it names, and attacks it.
func TestWebServesPage(t *testing.T) {
	t.Parallel()
	w := launchWeb(t, t.TempDir())
	r, index := w.request("GET", "/", "")
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
	require.Contains(t, r.Header.Get("Content-Security-Policy"),
		"connect-src 'self' ws://"+strings.TrimPrefix(w.url, "http://")+";")
	require.Contains(t, index, "<noscript><div class=\"empty nosession\"><h1>The workbench needs JavaScript</h1>", "never a blank page")
	require.NotContains(t, index, "<style", "the policy allows no inline styles")
	require.NotRegexp(t, `<script[^>]*>[^<]`, index, "the policy allows no inline scripts")
	named := regexp.MustCompile(`(?:src|href)="(/[^"]*)"`).FindAllStringSubmatch(index, -1)
	require.NotEmpty(t, named)
	for _, path := range named {
		require.Regexp(t, `^/assets/[A-Z2-7]{26}/\w+-[0-9A-Z]{8}\.(js|css)$`, path[1])
		plain, text := w.request("GET", path[1], "")
		require.Equal(t, 200, plain.StatusCode)
		require.Contains(t, plain.Header.Get("Cache-Control"), "immutable")
		short, compressed := w.request("GET", path[1], "", "Accept-Encoding", "gzip")
		require.Equal(t, "gzip", short.Header.Get("Content-Encoding"))
		if len(text) > 1000 { // gzip does not shorten a file that only imports another one
			require.Less(t, len(compressed), len(text))
		}
	}
	for _, path := range []string{"/", "/ws", "/session", "/ticket", "/readyz"} {
		r, _ := w.request("GET", path, "", "Host", "evil.example")
		require.Equal(t, 421, r.StatusCode, path)
		r, _ = w.request("POST", path, "", "Origin", "http://evil.example")
		require.Equal(t, 403, r.StatusCode, path)
	}
	ticket := w.ticket()
	for range 5 {
		require.Equal(t, 403, w.signIn("guess"))
	}
	require.Equal(t, 403, w.signIn(ticket), "five guesses end the ticket")
	require.NoFileExists(t, w.file)
	r, _ = w.request("GET", "/ws", "", "Sec-WebSocket-Protocol", "appserver.v1, bearer."+ticket)
	require.Equal(t, 401, r.StatusCode)
}

// TestWebRejectsUnsafeAddresses rejects addresses that other machines reach, and flags that
// contradict each other.
func TestWebRejectsUnsafeAddresses(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for _, c := range []struct {
		status  int
		message string
		args    []string
	}{
		{1, "is used by another program: choose another port", []string{"--web", taken.Addr().String()}},
		{1, "is used by another program: choose another port", []string{"web", "--listen", taken.Addr().String()}},
		{2, "--web: refusing to serve the page on 0.0.0.0:0: other machines can reach it", []string{"--web", "0.0.0.0:0"}},
		{2, "--listen: refusing to serve the page on [::]:0", []string{"web", "--listen", "[::]:0"}},
		{2, "expected IP:PORT", []string{"--web", "localhost:80"}},
		{2, "expected IP:PORT", []string{"--web", "4500"}},
		{2, "--ticket is for a running server", []string{"web", "--ticket", "--listen", "127.0.0.1:0"}},
		{2, "--devices cannot be used with --ticket", []string{"web", "--ticket", "--devices"}},
		{2, "--no-open cannot be used with --ticket", []string{"web", "--ticket", "--no-open"}},
		{2, "--listen cannot be used with --forget", []string{"web", "--forget", "all", "--listen", "127.0.0.1:1"}},
		{2, "--forget needs a name, an id or all", []string{"web", "--forget", ""}},
		{1, "no running server of this home has a page: start one with appserver web", []string{"web", "--ticket"}},
		{1, "no browser has the id or the name", []string{"web", "--forget", "x"}},
		{2, "expected IP:PORT", []string{"web", "--listen", "ws://127.0.0.1:80"}},
		{2, "serves the page only", []string{"--listen", "unix://", "web"}},
		{2, "serves the page only", []string{"--web", "127.0.0.1:0", "web"}},
		{2, "unexpected argument", []string{"web", "open"}},
	} {
		status, out, errs := apptest.Execute(t, t.TempDir(), c.args...)
		require.Equal(t, c.status, status, "%v: %s", c.args, errs)
		require.Empty(t, out)
		require.Contains(t, errs, c.message, "%v", c.args)
	}
}
