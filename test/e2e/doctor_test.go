package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// examined is a result of the command doctor.
type examined struct{ Name, Status, Detail, Action string }

// runDoctor runs doctor --json in a home with variables like NAME=VALUE, and returns its results by name.
func runDoctor(t *testing.T, home string, env []string,
	args ...string) (status int, results map[string]examined, out string) {
	t.Helper()
	cmd := apptest.ServerCommand(t, home, append([]string{"doctor", "--json"}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	text, _ := cmd.Output()
	var report struct {
		OK     bool
		Checks []examined
	}
	require.NoError(t, json.Unmarshal(text, &report), string(text))
	results = map[string]examined{}
	for _, r := range report.Checks {
		require.Contains(t, []string{"ok", "warning", "problem"}, r.Status)
		require.NotEmpty(t, r.Detail, r.Name)
		require.Equal(t, r.Status == "ok", r.Action == "", "what is not well has an action: %v", r)
		results[r.Name] = r
	}
	status = cmd.ProcessState.ExitCode()
	require.Equal(t, report.OK, status == 0)
	return status, results, string(text)
}

// doctorHome returns a home with a configuration.
func doctorHome(t *testing.T, config string) string {
	t.Helper()
	_, err := apptest.Binary() // so that the time of its build counts in no test
	require.NoError(t, err)
	home := t.TempDir()
	require.NoError(t, os.Chmod(home, 0o700))
	apptest.WriteConfig(t, home, config)
	return home
}

const offlineConfig = "model_provider = \"offline\"\n"

// TestDoctorFindsNothingWrongInAReadyHome requires the stable names, and leaves nothing behind.
func TestDoctorFindsNothingWrongInAReadyHome(t *testing.T) {
	t.Parallel()
	home := doctorHome(t, offlineConfig)
	status, results, _ := runDoctor(t, home, nil)
	require.Zero(t, status)
	for _, name := range []string{"program", "home", "home.writable", "home.space", "index", "configuration", "sandbox", "git",
		"shell", "provider", "provider.others", "mcp", "server", "ports", "proxies", "terminal", "files", "clock"} {
		require.Contains(t, results, name)
	}
	require.Contains(t, results["configuration"].Detail, filepath.Join(home, "config.toml"))
	entries, err := os.ReadDir(home)
	require.NoError(t, err)
	require.Len(t, entries, 1, "it leaves nothing")

	status, out, errs := apptest.Execute(t, home, "doctor")
	require.Zero(t, status)
	require.Empty(t, errs)
	require.Regexp(t, `(?m)^ok       configuration +read:`, out)
	require.Regexp(t, `\nNo problems`, out)
	for line := range strings.Lines(out) {
		require.LessOrEqual(t, len(strings.TrimSpace(line)), 110, line)
	}
}

// TestDoctorNamesWhatIsInTheWay has a home that cannot be used, in each way.
func TestDoctorNamesWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	apptest.NeedsFiles(t, apptest.FilesIndex)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	broken := doctorHome(t, "model = \"m\"\nsandbox_mode = 5\n")
	unknown := doctorHome(t, offlineConfig+"modle = \"m\"\n")
	blocked := doctorHome(t, offlineConfig)
	require.NoError(t, os.WriteFile(filepath.Join(blocked, "sessions"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(blocked, "appserver-index.sqlite"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(blocked, "auth.json"), []byte("{}"), 0o644))
	open := doctorHome(t, offlineConfig)
	require.NoError(t, os.Chmod(open, 0o755))
	for _, c := range []struct{ home, name, status, detail, action string }{
		{file, "home", "problem", "is not a folder", "CODEX_HOME"},
		{filepath.Join(file, "home"), "home", "problem", "home", "CODEX_HOME"},
		{broken, "configuration", "problem", "config.toml:2: sandbox_mode", "correct"},
		{unknown, "configuration.warning", "warning", "modle: unknown key", "correct"},
		{blocked, "home.obstacle", "problem", "sessions is not a folder", "move it away"},
		{blocked, "index", "problem", "is not a file", "end all servers"},
		{blocked, "home.login", "warning", "can read the login", "chmod 600"},
		{open, "home.mode", "warning", "755", "chmod 700"},
	} {
		status, results, _ := runDoctor(t, c.home, nil)
		got := results[c.name]
		require.Equal(t, c.status, got.Status, "%s: %v", c.name, results)
		require.Contains(t, got.Detail, c.detail)
		require.Contains(t, got.Action, c.action)
		if c.status == "problem" {
			require.Equal(t, 1, status)
		}
	}
	missing := filepath.Join(t.TempDir(), "no", "home")
	status, results, _ := runDoctor(t, missing, nil, "-c", "model_provider=offline")
	require.Zero(t, status)
	require.Contains(t, results["home"].Detail, "does not exist yet")
	require.NoDirExists(t, filepath.Dir(missing))
}

// TestDoctorProbesTheProvider has a provider that accepts the key, refuses it, has no list, repeats the key in its
// answer, is gone, and never responds. No output has the key.
func TestDoctorProbesTheProvider(t *testing.T) {
	t.Parallel()
	const key = "sk-secret-key-1234567890"
	quit := make(chan struct{})
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); {
		case kind == "silent":
			select {
			case <-quit:
			case <-r.Context().Done():
			}
		case kind == "without":
			http.NotFound(w, r)
		case kind == "busy":
			http.Error(w, "\x1b[31m "+r.Header.Get("Authorization"), http.StatusServiceUnavailable)
		case r.Header.Get("Authorization") != "Bearer "+key:
			http.Error(w, r.Header.Get("Authorization"), http.StatusUnauthorized)
		default:
			fmt.Fprint(w, `{"data":[{"id":"one"},{"id":"two"}]}`)
		}
	}))
	defer provider.Close()
	defer close(quit)
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	for _, c := range []struct{ url, key, status, detail string }{
		{provider.URL + "/v1", key, "ok", "accepts the key of SOME_KEY; 3 models can be used"},
		{provider.URL + "/v1", "sk-wrong-key-1234567890", "problem", "rejects the key in SOME_KEY (401)"},
		{provider.URL + "/v1", "", "problem", "SOME_KEY"},
		{provider.URL + "/without", key, "ok", "1 model can be used"},
		{provider.URL + "/busy", key, "warning", "503"},
		{"http://user:hidden-password@" + strings.TrimPrefix(provider.URL, "http://") + "/busy", key, "warning", "503"},
		{"http://" + gone.Addr().String(), key, "problem", "nothing listens on"},
		{provider.URL + "/silent", key, "problem", "did not answer within"},
	} {
		home := doctorHome(t, fmt.Sprintf("model_provider = \"mine\"\nmodel = \"m\"\n[model_providers.mine]\nname = \"Mine\"\nbase_url = %q\nenv_key = \"SOME_KEY\"\n", c.url))
		begin := time.Now()
		status, results, out := runDoctor(t, home, []string{"SOME_KEY=" + c.key, "NO_PROXY=*"})
		require.Less(t, time.Since(begin), 12*time.Second)
		require.Equal(t, c.status, results["provider"].Status, "%s: %v", c.url, results["provider"])
		require.Contains(t, results["provider"].Detail, c.detail)
		require.Equal(t, c.status == "problem", status == 1)
		for _, secret := range []string{"sk-", "hidden-password", "\x1b"} {
			require.NotContains(t, out, secret)
		}
	}
}

// TestDoctorStartsMCPServers has servers that start, fail, hang and are disabled, with names and messages that would
// control a terminal, and secrets in their environment.
func TestDoctorStartsMCPServers(t *testing.T) {
	t.Parallel()
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	home := doctorHome(t, offlineConfig+fmt.Sprintf(`
[mcp_servers.good]
command = %[1]q
[mcp_servers.off]
command = %[1]q
enabled = false
[mcp_servers.absent]
command = "/no/such/program"
[mcp_servers.hangs]
command = "sleep"
args = ["600"]
startup_timeout_sec = 600
[mcp_servers."evil\u001b[2J\u202ename"]
command = "sh"
args = ["-c", "printf '\\033[31m%%s\\n' $SOME_TOKEN >&2; exit 1"]
env = { SOME_TOKEN = "mcp-secret-token-12345" }
`, program))
	begin := time.Now()
	status, results, out := runDoctor(t, home, nil)
	require.Less(t, time.Since(begin), 15*time.Second, "the run is bounded")
	require.Zero(t, status, "the servers are not required")
	require.Regexp(t, `^started, with \d+ tools?$`, results["mcp.good"].Detail)
	require.Equal(t, "disabled", results["mcp.off"].Detail)
	require.Contains(t, results["mcp.absent"].Detail, "does not start")
	require.Equal(t, "warning", results["mcp.hangs"].Status)
	require.Contains(t, out, "mcp.evil")
	for _, hostile := range []string{"\x1b", "\u202e", `\u001b`, `\u202e`, "mcp-secret-token"} {
		require.NotContains(t, out, hostile)
	}
}

// TestDoctorShowsProxiesWithoutPasswords also refuses a variable that names no proxy.
func TestDoctorShowsProxiesWithoutPasswords(t *testing.T) {
	t.Parallel()
	home := doctorHome(t, offlineConfig)
	_, results, out := runDoctor(t, home, []string{"HTTPS_PROXY=http://me:pass-word@proxy.example:3128", "NO_PROXY=internal.example",
		"HTTP_PROXY=\x1bftp://x:pass-word@y"})
	require.Equal(t, "requests go through http://proxy.example:3128 (HTTPS_PROXY)", results["proxies.https"].Detail)
	require.Equal(t, "problem", results["proxies.http"].Status)
	require.Contains(t, results["proxies.none"].Detail, "internal.example")
	require.NotContains(t, out, "pass-word")
	require.NotContains(t, out, "\x1b")
}

// TestDoctorFindsRunningServers asks the server on the control socket of the home, and finds its page.
func TestDoctorFindsRunningServers(t *testing.T) {
	t.Parallel()
	home := apptest.ShortDir(t) // the path of a socket is bounded
	apptest.WriteConfig(t, home, offlineConfig)
	server := apptest.ServerCommand(t, home, "--listen", "unix://", "--web", "127.0.0.1:0")
	require.NoError(t, server.Start())
	defer func() {
		require.NoError(t, server.Process.Signal(os.Interrupt))
		require.NoError(t, server.Wait())
	}()
	require.Eventually(t, func() bool {
		_, results, _ := runDoctor(t, home, nil)
		return strings.Contains(results["server"].Detail, fmt.Sprintf("a server runs (process %d): 0 conversations loaded", server.Process.Pid)) &&
			strings.Contains(results["ports"].Detail, "pages of this home are open at http://127.0.0.1:")
	}, 30*time.Second, 100*time.Millisecond)
}
