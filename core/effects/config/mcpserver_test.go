package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/config"
)

func servers(t *testing.T, text string, env map[string]string) *config.Config {
	t.Helper()
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
	c, err := config.Load(config.Source{Home: home, Getenv: func(name string) string { return env[name] }})
	require.NoError(t, err)
	return c
}

func TestServersAreReadWithDefaults(t *testing.T) {
	c := servers(t, `
[mcp_servers.b]
command = "prog"
args = ["-x"]
env = { A = "1" }
env_vars = ["B", { name = "C" }]
startup_timeout_sec = 1.5
tool_timeout_sec = 7
default_tools_approval_mode = "prompt"
[mcp_servers.b.tools.look]
approval_mode = "approve"
[mcp_servers.a]
url = "https://example.com/mcp"
[mcp_servers.off]
command = "prog"
enabled = false
name = "x"
`, nil)
	require.Empty(t, c.Warnings)
	list := c.Servers()
	require.Len(t, list, 2, "a disabled server is not used")
	require.Equal(t, "a", list[0].Name)
	require.Equal(t, 10*time.Second, time.Duration(list[0].StartupTimeout))
	require.Equal(t, time.Minute, time.Duration(list[0].ToolTimeout))
	require.Nil(t, list[0].EnabledTools)
	b := list[1]
	require.Equal(t, config.VariableNames{"B", "C"}, b.EnvVars)
	require.Equal(t, 1500*time.Millisecond, time.Duration(b.StartupTimeout))
	require.Equal(t, "approve", b.Tools["look"].ApprovalMode)
	require.Equal(t, "prompt", b.DefaultToolsApprovalMode)
}

// Other programs write the file as well, so an incomplete server is a warning, not an error.
func TestIncompleteServersAreDisabled(t *testing.T) {
	c := servers(t, "[mcp_servers.none]\nenabled = true\n[mcp_servers.both]\ncommand = \"a\"\nurl = \"http://b/\"\n", nil)
	require.Empty(t, c.Servers())
	require.Len(t, c.Warnings, 2)
	require.Contains(t, c.Warnings[0]+c.Warnings[1], "mcp_servers.both: has both command and url")
	require.Contains(t, c.Warnings[0]+c.Warnings[1], "mcp_servers.none: has neither command")
}

func TestErrorsOfServers(t *testing.T) {
	for text, want := range map[string]string{
		"[mcp_servers.a]\ncommand = \"a\"\ntool_timeout_sec = 0\n":                            "mcp_servers.a.tool_timeout_sec: expected more than 0",
		"[mcp_servers.a]\ncommand = \"a\"\nstartup_timeout_sec = \"1\"\n":                     "mcp_servers.a.startup_timeout_sec: expected a number of seconds",
		"[mcp_servers.a]\ncommand = \"a\"\nenv_vars = [1]\n":                                  "mcp_servers.a.env_vars: expected names of variables",
		"[mcp_servers.a]\ncommand = \"a\"\ndefault_tools_approval_mode = \"x\"\n":             "unknown variant `x`",
		"[mcp_servers.a]\nurl = \"ftp://x\"\n":                                                "mcp_servers.a.url: expected an address",
		"mcp_servers = 1\n":                                                                   "mcp_servers: expected a table of MCP servers",
		"[mcp_servers.a]\ncommand = \"a\"\ntools = 1\n":                                       "mcp_servers.a.tools: expected a table of tools",
		"[mcp_servers.a]\ncommand = \"a\"\n[mcp_servers.a.tools.t]\napproval_mode = \"no\"\n": "mcp_servers.a.tools.t.approval_mode: unknown variant `no`",
	} {
		home := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
		_, err := config.Load(config.Source{Home: home})
		require.ErrorContains(t, err, want)
	}
}

func TestHeadersOfServicesComeFromTheEnvironment(t *testing.T) {
	c := servers(t, `
[mcp_servers.a]
url = "https://example.com/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { X-Team = "t" }
env_http_headers = { X-Key = "KEY", X-None = "NONE" }
`, map[string]string{"TOKEN": "tok", "KEY": "k"})
	got, err := c.RequestHeaders(c.Servers()[0])
	require.NoError(t, err)
	require.Equal(t, map[string]string{"Authorization": "Bearer tok", "X-Team": "t", "X-Key": "k"}, got)

	bare := servers(t, "[mcp_servers.a]\nurl = \"https://example.com/mcp\"\nbearer_token_env_var = \"TOKEN\"\n", nil)
	_, err = bare.RequestHeaders(bare.Servers()[0])
	require.ErrorContains(t, err, "the environment variable TOKEN is not set")
}

// A thread has the servers that the files of its project name now.
func TestLatestReadsTheFilesOfTheProject(t *testing.T) {
	home, cwd := t.TempDir(), t.TempDir()
	trusted := fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", cwd)
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(trusted), 0o600))
	source := config.Source{Home: home}
	c, err := config.Load(source)
	require.NoError(t, err)
	live := config.NewLive(source, c)
	thread, err := c.For(cwd, nil)
	require.NoError(t, err)
	require.Same(t, thread, live.Latest(thread), "nothing has changed")

	file := filepath.Join(cwd, ".codex", "config.toml")
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte("[mcp_servers.new]\ncommand = \"n\"\n"), 0o600))
	with := live.Latest(thread)
	require.Len(t, with.Servers(), 1)
	require.NoError(t, os.Remove(file))
	require.Empty(t, live.Latest(with).Servers())
}

// A thread keeps its own servers when the file is read again.
func TestReloadKeepsServersOfThreads(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "config.toml")
	require.NoError(t, os.WriteFile(file, []byte("[mcp_servers.one]\ncommand = \"1\"\n"), 0o600))
	source := config.Source{Home: home}
	c, err := config.Load(source)
	require.NoError(t, err)
	live := config.NewLive(source, c)
	thread, err := c.With(map[string]json.RawMessage{"mcp_servers": json.RawMessage(`{"own":{"command":"o"}}`)})
	require.NoError(t, err)

	require.NoError(t, os.WriteFile(file, []byte("[mcp_servers.two]\ncommand = \"2\"\n"), 0o600))
	require.NoError(t, live.Reload())
	var names []string
	for _, s := range live.Latest(thread).Servers() {
		names = append(names, s.Name)
	}
	require.Equal(t, []string{"own", "two"}, names)
	require.Same(t, live.Current(), live.Latest(c))

	require.NoError(t, os.WriteFile(file, []byte("model = 1\n"), 0o600))
	require.ErrorContains(t, live.Reload(), "the configuration cannot be read")
	require.Len(t, live.Current().Servers(), 1, "an invalid file changes nothing")
}

func TestEnabledToolsAreOfOneServer(t *testing.T) {
	c := servers(t, `
[mcp_servers.a]
command = "a"
enabled_tools = ["x", "y"]
disabled_tools = ["y"]
[mcp_servers.b]
command = "b"
enabled_tools = []
required = true
[mcp_servers."with space"]
url = "http://localhost:1/mcp"
`, nil)
	require.Empty(t, c.Warnings)
	list := c.Servers()
	require.Len(t, list, 3)
	require.Equal(t, []string{"x", "y"}, list[0].EnabledTools)
	require.Equal(t, []string{"y"}, list[0].DisabledTools)
	require.NotNil(t, list[1].EnabledTools, "an empty list offers no tool, a missing list all tools")
	require.Empty(t, list[1].EnabledTools)
	require.True(t, list[1].Required)
	require.Equal(t, "with space", list[2].Name)
	require.Nil(t, list[2].EnabledTools)
}

func TestUnknownKeysOfServersWarn(t *testing.T) {
	c := servers(t, "[mcp_servers.a]\ncommand = \"a\"\ncomand = \"b\"\n", nil)
	require.Len(t, c.Servers(), 1)
	require.Len(t, c.Warnings, 1)
	require.Contains(t, c.Warnings[0], "mcp_servers.a.comand")
}

// The changes apply to the thread only.
func TestThreadsOverrideServersOfTheFile(t *testing.T) {
	c := servers(t, "[mcp_servers.a]\ncommand = \"a\"\nargs = [\"1\"]\n[mcp_servers.b]\ncommand = \"b\"\n", nil)
	thread, err := c.With(map[string]json.RawMessage{"mcp_servers.a.enabled": json.RawMessage(`false`),
		"mcp_servers.b.args": json.RawMessage(`["2"]`)})
	require.NoError(t, err)
	require.Len(t, thread.Servers(), 1)
	require.Equal(t, []string{"2"}, thread.Servers()[0].Args)
	require.Equal(t, "b", thread.Servers()[0].Command)
	require.Len(t, c.Servers(), 2)
	require.Nil(t, c.Servers()[1].Args)
	_, err = c.With(map[string]json.RawMessage{"mcp_servers": json.RawMessage(`{"c":{"command":1}}`)})
	require.ErrorContains(t, err, "mcp_servers.c.command")
}

func TestLoginSettingsOfServers(t *testing.T) {
	c := servers(t, `
mcp_oauth_credentials_store = "file"
mcp_oauth_callback_port = 4321
mcp_oauth_callback_url = "https://relay.example/callback"
[mcp_servers.a]
url = "https://example.com/mcp"
scopes = ["read", "write"]
oauth_resource = "https://example.com/"
[mcp_servers.a.oauth]
client_id = "mine"
client_secret = "hidden"
callback_port = 99
callback_url = "http://localhost:99/cb"
[mcp_servers.b]
url = "https://example.com/b"
`, nil)
	require.Empty(t, c.Warnings)
	require.Equal(t, "file", c.McpCredentialsStore)
	require.Equal(t, 4321, c.McpCallbackPort)
	require.Equal(t, "https://relay.example/callback", c.McpCallbackURL)
	a, b := c.Servers()[0], c.Servers()[1]
	require.Equal(t, config.McpOAuth{ClientID: "mine", ClientSecret: "hidden", CallbackPort: 99,
		CallbackURL: "http://localhost:99/cb"}, a.OAuth)
	require.Equal(t, "https://example.com/", a.OAuthResource)
	require.Equal(t, []string{"read", "write"}, a.Scopes)
	require.Nil(t, b.Scopes)
	require.Equal(t, "auto", servers(t, "", nil).McpCredentialsStore)

	view, err := json.Marshal(c.View(true))
	require.NoError(t, err)
	require.NotContains(t, string(view), "hidden")
}

func TestWrongLoginSettings(t *testing.T) {
	for text, want := range map[string]string{
		"mcp_oauth_credentials_store = \"nowhere\"\n":                                         "unknown variant `nowhere`",
		"mcp_oauth_callback_port = 70000\n":                                                   "mcp_oauth_callback_port",
		"[mcp_servers.a]\nurl = \"https://x/\"\noauth = 1\n":                                  "mcp_servers.a.oauth: expected a table",
		"[mcp_servers.a]\nurl = \"https://x/\"\n[mcp_servers.a.oauth]\nclient_secret=\"s\"\n": "client_secret requires client_id",
	} {
		home := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
		_, err := config.Load(config.Source{Home: home})
		require.ErrorContains(t, err, want)
	}
	c := servers(t, "[mcp_servers.a]\ncommand = \"x\"\nscopes = [\"s\"]\n", nil)
	require.Len(t, c.Servers(), 1)
	require.Contains(t, c.Warnings[0], "its settings for logins have no effect")
}

// The files of a project cannot choose where logins are kept or where browsers are sent.
func TestProjectsCannotSetUpLogins(t *testing.T) {
	home, cwd := t.TempDir(), t.TempDir()
	trusted := fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", cwd)
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(trusted), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(cwd, ".codex"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(cwd, ".codex", "config.toml"),
		[]byte("mcp_oauth_credentials_store = \"file\"\nmcp_oauth_callback_port = 1\nmcp_oauth_callback_url = \"https://evil.example/\"\n"), 0o600))
	c, err := config.Load(config.Source{Home: home})
	require.NoError(t, err)
	c, err = c.For(cwd, nil)
	require.NoError(t, err)
	require.Equal(t, "auto", c.McpCredentialsStore)
	require.Zero(t, c.McpCallbackPort)
	require.Empty(t, c.McpCallbackURL)
	require.Contains(t, c.ProjectWarnings[0], "mcp_oauth_callback_url")
}
