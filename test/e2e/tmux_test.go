package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// pane is a program in a terminal of tmux. The terminal shows the program's output and then its status.
type pane struct {
	t      *testing.T
	socket string
}

// startPane runs the server program in a terminal. Without tmux it skips the test, or fails it in CI.
// The environment has lines like TERM=vt100.
func startPane(t *testing.T, home string, columns, rows int, env []string, args ...string) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil && os.Getenv("CI") == "" {
		t.Skip("tmux is not installed")
	}
	cmd := apptest.ServerCommand(t, home, args...)
	words := []string{"env", "-u", "NO_COLOR", "-u", "COLORTERM"}
	for _, v := range append(cmd.Env[len(os.Environ()):], env...) { // without those of the test, which tmux passes on
		words = append(words, apptest.ShellQuote(v))
	}
	for _, arg := range cmd.Args {
		words = append(words, apptest.ShellQuote(arg))
	}
	script := strings.Join(words, " ") + "; echo ended with status $?; cat"
	p := &pane{t, filepath.Join(apptest.ShortDir(t), "tmux")}
	p.tmux("new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), script)
	t.Cleanup(func() { p.tmux("kill-server") })
	return p
}

// tmux runs a command of tmux and returns its output.
func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-u", "-S", p.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TMUX=")
	out, err := cmd.CombinedOutput()
	require.NoError(p.t, err, "%v: %s", args, out)
	return string(out)
}

// screen returns the text of the terminal.
func (p *pane) screen() string {
	p.t.Helper()
	return p.tmux("capture-pane", "-p")
}

// await returns the first screen that has all texts.
func (p *pane) await(texts ...string) (screen string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		screen = p.screen()
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	}, 30*time.Second, 20*time.Millisecond, "%s", lazily(func() string { return fmt.Sprintf("%q in\n%s", texts, screen) }))
	return screen
}

// lazily is a message that is made when a test fails.
type lazily func() string

// String returns the message.
func (f lazily) String() string { return f() }

// press sends keys, with the names of tmux.
func (p *pane) press(keys ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys"}, keys...)...)
}

// write sends a text, character by character.
func (p *pane) write(text string) {
	p.t.Helper()
	p.tmux("send-keys", "-l", text)
}

// awaitEnd waits until the program ends, and returns the screen that is left.
func (p *pane) awaitEnd(status int) string {
	p.t.Helper()
	return p.await(fmt.Sprintf("ended with status %d", status))
}
