package workbench

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/docs/demo/prepared"
	"appserver/test/apptest"
)

// server is a running `appserver web`.
type server struct {
	home string
	// url is the address of the page; file is the file that leads there with a ticket.
	url, file string
	cmd       *exec.Cmd
}

// serve starts a server with the page on a free port.
func serve(t *testing.T, home string, args ...string) *server {
	needChromium(t)
	cmd := apptest.OfflineCommand(t, home, append([]string{"web", "--no-open"}, args...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	s := &server{home: home, cmd: cmd}
	t.Cleanup(s.stop)
	s.url, s.file = readAddress(t, out)
	return s
}

// readAddress returns the address of the page and the file to open from the output of the command.
func readAddress(t *testing.T, out io.Reader) (url, file string) {
	t.Helper()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "page":
			url = value
		case "file":
			return url, value
		}
	}
	require.Fail(t, "the command did not print the file to open", lines.Err())
	return "", ""
}

// openAgain opens a second tab, as a second call of the command does.
func (s *server) openAgain(t *testing.T) *workbench {
	t.Helper()
	out, err := apptest.OfflineCommand(t, s.home, "web", "--no-open").Output()
	require.NoError(t, err)
	url, file := readAddress(t, bytes.NewReader(out))
	require.Equal(t, s.url, url)
	s.file = file
	return s.open(t)
}

func (s *server) stop() {
	if s.cmd.Process != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

// prepare makes the home with the conversation of make demo-web.
func prepare(t *testing.T) prepared.Home {
	t.Helper()
	needChromium(t)
	binary, err := apptest.Binary()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "demo") // short, because pictures show it
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	home, err := prepared.Make(binary, dir)
	require.NoError(t, err)
	return home
}
