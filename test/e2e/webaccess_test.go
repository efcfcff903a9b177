package e2e

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// opensPage matches an address with a ticket.
var opensPage = regexp.MustCompile(`(http://127\.0\.0\.1:\d+)/#ticket=([A-Z2-7]{26})`)

// onTerminal starts a command with a terminal as standard output, and returns its lines up to one with a text.
func onTerminal(t *testing.T, cmd *exec.Cmd, last string) (lines []string) {
	t.Helper()
	terminal, tty, err := pty.Open()
	require.NoError(t, err)
	t.Cleanup(func() { _ = terminal.Close() })
	cmd.Stdout = tty
	require.NoError(t, cmd.Start())
	require.NoError(t, tty.Close())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	read := bufio.NewScanner(terminal)
	for read.Scan() {
		lines = append(lines, strings.TrimSpace(read.Text()))
		if strings.Contains(read.Text(), last) {
			return lines
		}
	}
	require.Fail(t, "the command exited early", "%q", lines)
	return nil
}

// TestWebPrintsAddressOnTerminal signs in with the address that a user sees. The log and the list of processes do not
// have it.
func TestWebPrintsAddressOnTerminal(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := apptest.OfflineCommand(t, home, "--log-level", "debug", "web", "--no-open")
	lines := onTerminal(t, cmd, "Ctrl+C")
	found := opensPage.FindStringSubmatch(lines[1])
	require.Len(t, found, 3, "%q", lines)
	require.Equal(t, "open: "+found[0], lines[1])
	require.Equal(t, "page: "+found[1], lines[0])
	w := &workbench{t: t, url: found[1]}
	files, err := filepath.Glob(filepath.Join(home, "appserver-web", "*.html"))
	require.NoError(t, err)
	require.Empty(t, files, "nothing opens the file")
	require.Equal(t, 200, w.signIn(found[2]))
	w.connect()
	require.Equal(t, 403, w.signIn(found[2]), "the address works once")
	arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
	require.NoError(t, err)
	for _, public := range []string{stderr(t, cmd), string(arguments)} {
		require.NotContains(t, public, found[2])
		require.NotContains(t, public, w.token)
	}

	again := apptest.OfflineCommand(t, home, "web")
	again.Env = append(again.Env, "PATH="+t.TempDir(), "SSH_CONNECTION=192.0.2.1 1 192.0.2.2 22")
	lines = onTerminal(t, again, "running already")
	second := opensPage.FindStringSubmatch(lines[1])
	require.Len(t, second, 3, "%q", lines)
	_, port, _ := strings.Cut(strings.TrimPrefix(w.url, "http://"), ":")
	require.Contains(t, strings.Join(lines, "\n"), "ssh -N -L "+port+":127.0.0.1:"+port+" HOST")
	require.Error(t, again.Wait(), "no browser can be opened")
	require.Contains(t, stderr(t, again), "open the address above yourself")
	require.Equal(t, 200, w.signIn(second[2]))
}

// TestWebTicketPrintsAddressOfRunningServer prints addresses for the server of an editor.
func TestWebTicketPrintsAddressOfRunningServer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := apptest.OfflineCommand(t, home, "--log-level", "debug", "--web", "127.0.0.1:0")
	apptest.StartProcess(t, cmd).Initialize()
	take := func(args ...string) (url, ticket string) {
		status, out, errs := apptest.Execute(t, home, append([]string{"web", "--ticket"}, args...)...)
		require.Equal(t, 0, status, errs)
		require.Contains(t, errs, "within 10 minutes. It works once")
		found := opensPage.FindStringSubmatch(out)
		require.Len(t, found, 3, out)
		require.Equal(t, found[0]+"\n", out)
		require.NotContains(t, errs, found[2])
		return found[1], found[2]
	}
	url, first := take()
	_, second := take("--listen", strings.TrimPrefix(url, "http://"))
	w := &workbench{t: t, url: url}
	require.Equal(t, 403, w.signIn(first), "a newer ticket ends it")
	require.Equal(t, 200, w.signIn(second))
	w.connect()
	require.NotContains(t, stderr(t, cmd), first)
	require.NotContains(t, stderr(t, cmd), second)
	_, last := take()
	for range 5 {
		require.Equal(t, 403, w.signIn("guess"))
	}
	require.Equal(t, 403, w.signIn(last), "five guesses end the ticket")
	status, out, errs := apptest.Execute(t, home, "web", "--ticket", "--listen", "127.0.0.1:1")
	require.Equal(t, 1, status)
	require.Empty(t, out)
	require.Contains(t, errs, "no running server of this home at 127.0.0.1:1 has a page")
}

// TestWebWithoutPortUsesTheDefaultPort starts servers without a port. Those that run at once use the next ports.
func TestWebWithoutPortUsesTheDefaultPort(t *testing.T) {
	t.Parallel()
	announced := regexp.MustCompile(`page: http://127\.0\.0\.1:(\d+)\n`)
	port := func(args ...string) string {
		cmd := apptest.OfflineCommand(t, t.TempDir(), args...)
		apptest.StartProcess(t, cmd).Initialize()
		found := announced.FindStringSubmatch(stderr(t, cmd))
		require.Len(t, found, 2, "%q", args)
		return found[1]
	}
	seen := map[string]bool{}
	for _, args := range [][]string{{"--web"}, {"--web", "--stdio"}, {"--web", "app-server"}, {"--web", "127.0.0.1"},
		{"app-server", "--web"}} {
		at := port(args...)
		require.Regexp(t, `^(205[12]\d|[3-6]\d{4})$`, at, "%q", args)
		require.False(t, seen[at], "two servers at once")
		seen[at] = true
	}
}

// TestWebForgetsBrowsers remembers a browser, and revokes it by the command while it is connected.
func TestWebForgetsBrowsers(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	w := launchWeb(t, home)
	require.Equal(t, 200, w.signIn(w.ticket()))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	point, err := key.PublicKey.Bytes()
	require.NoError(t, err)
	public := base64.StdEncoding.EncodeToString(point)
	r, text := w.request("POST", "/devices", `{"name":"Firefox on Linux","key":"`+public+`"}`,
		"Content-Type", "application/json", "Authorization", "Bearer "+w.token)
	require.Equal(t, http.StatusCreated, r.StatusCode, text)
	var device struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(text), &device))

	signIn := func() int {
		_, text := w.request("POST", "/challenge", `{"nonce":"`+base64.StdEncoding.EncodeToString(make([]byte, 32))+`"}`,
			"Content-Type", "application/json")
		var c struct{ Challenge string }
		require.NoError(t, json.Unmarshal([]byte(text), &c))
		digest := sha256.Sum256([]byte("appserver device 1\n" + w.url + "\n" + c.Challenge))
		a, b, err := ecdsa.Sign(rand.Reader, key, digest[:])
		require.NoError(t, err)
		signature := append(a.FillBytes(make([]byte, 32)), b.FillBytes(make([]byte, 32))...)
		body, err := json.Marshal(map[string]string{"device": device.ID, "challenge": c.Challenge,
			"signature": base64.StdEncoding.EncodeToString(signature)})
		require.NoError(t, err)
		r, _ := w.request("POST", "/session", string(body), "Content-Type", "application/json")
		return r.StatusCode
	}
	require.Equal(t, 200, signIn())
	page := w.connect()
	status, out, errs := apptest.Execute(t, home, "web", "--devices")
	require.Equal(t, 0, status, errs)
	require.Contains(t, out, device.ID+"  Firefox on Linux  "+w.url)
	require.NotContains(t, out, public)
	info, err := os.Stat(filepath.Join(home, "appserver-web", "devices.json"))
	require.NoError(t, err)
	require.Equal(t, "-rw-------", info.Mode().String())

	status, out, errs = apptest.Execute(t, home, "web", "--forget", "Firefox on Linux")
	require.Equal(t, 0, status, errs)
	require.Contains(t, out, "forgotten: "+device.ID)
	<-page.Exited
	require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(page.Err))
	require.Equal(t, 403, signIn())
	_, out, _ = apptest.Execute(t, home, "web", "--devices")
	require.Equal(t, "No browser is remembered.\n", out)
}
