//go:build reference

package interchange

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// loginProgram runs commands about MCP servers of one of the programs.
type loginProgram struct {
	t    *testing.T
	path string
	home string
}

func (p loginProgram) command(args ...string) *exec.Cmd {
	return apptest.ProcessCommand(p.t, p.home, p.path, append([]string{"mcp"}, args...)...)
}

// output runs a command that succeeds. Its name stands for the name of the program.
func (p loginProgram) output(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).Output()
	require.NoError(p.t, err, args)
	return strings.NewReplacer("appserver mcp", "PROGRAM mcp", "codex mcp", "PROGRAM mcp").Replace(string(out))
}

// login logs in as a user with a browser.
func (p loginProgram) login() {
	p.t.Helper()
	cmd := p.command("login", "--no-browser", "docs")
	out, err := cmd.StdoutPipe()
	require.NoError(p.t, err)
	in, err := cmd.StdinPipe() // open until the end, since a closed input ends the login of the reference implementation
	require.NoError(p.t, err)
	defer in.Close()
	require.NoError(p.t, cmd.Start())
	var text bytes.Buffer
	visited := false
	for chunk := make([]byte, 4096); ; {
		n, err := out.Read(chunk)
		text.Write(chunk[:n])
		for _, line := range strings.Split(text.String(), "\n") {
			if !visited && strings.Contains(line, "/authorize?") && strings.Contains(text.String(), line+"\n") {
				visited = true
				response, err := http.Get(strings.TrimSpace(line))
				require.NoError(p.t, err)
				response.Body.Close()
				require.Equal(p.t, http.StatusOK, response.StatusCode)
			}
		}
		if err == io.EOF {
			break
		}
		require.NoError(p.t, err)
	}
	require.NoError(p.t, cmd.Wait())
	require.Contains(p.t, text.String(), "Successfully logged in to MCP server 'docs'.")
}

// TestReferenceLogins lets each program log in, and the other use, refresh and remove the login.
func TestReferenceLogins(t *testing.T) {
	x := newInterchange(t)
	s := apptest.StartLoginService(t)
	file := filepath.Join(x.home, "config.toml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	apptest.WriteConfig(t, x.home, "mcp_oauth_credentials_store = \"file\"\n"+string(text)+
		"[mcp_servers.docs]\nurl = \""+s.Address()+"\"\n")
	own, err := apptest.Binary()
	require.NoError(t, err)
	ours := loginProgram{t, own, x.home}
	theirs := loginProgram{t, os.Getenv("REFERENCE_BINARY"), x.home}
	for name, c := range map[string]struct {
		from, to loginProgram
		serve    func() *apptest.Client
	}{"ours, then theirs": {ours, theirs, x.reference}, "theirs, then ours": {theirs, ours, x.ours}} {
		t.Log(name)
		c.from.login()
		status := func(p loginProgram) string { return gjson.Get(p.output("list", "--json"), "0.auth_status").Str }
		require.Equal(t, "o_auth", status(c.to))
		for range 2 {
			client := c.serve()
			x.startThread(client)
			untilServer(client, "docs")
			client.Close()
			s.Expire() // the second time with a refresh
		}
		require.Equal(t, "o_auth", status(c.from))
		require.Zero(t, s.Count("reuse", 0))
		require.Equal(t, "Removed OAuth credentials for 'docs'.\n", c.to.output("logout", "docs"))
		require.Equal(t, "not_logged_in", status(c.from))
	}
}

// TestReferenceServerCommands compares the outputs and the files of the commands that add, list and remove servers.
func TestReferenceServerCommands(t *testing.T) {
	own, err := apptest.Binary()
	require.NoError(t, err)
	ours := loginProgram{t, own, t.TempDir()}
	theirs := loginProgram{t, os.Getenv("REFERENCE_BINARY"), t.TempDir()}
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"add", "a", "--env", "K=V", "--", "prog", "-x", "a b"},
		{"add", "b", "--url", "http://127.0.0.1:9/mcp", "--bearer-token-env-var", "TOKEN"},
		{"add", "c", "--url", "http://127.0.0.1:9/mcp", "--oauth-client-id", "id", "--oauth-resource", "https://r/"},
		{"list"}, {"list", "--json"}, {"get", "a"}, {"get", "b"}, {"get", "--json", "a"}, {"get", "--json", "c"},
		{"remove", "a"}, {"remove", "a"}, {"list"}} {
		require.Equal(t, theirs.output(args...), ours.output(args...), args)
	}
	require.Equal(t, theirs.output("get", "--json", "c"), loginProgram{t, own, theirs.home}.output("get", "--json", "c"))
}
