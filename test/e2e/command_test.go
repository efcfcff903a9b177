package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
)

// TestVersionLine requires the words that clients search for.
func TestVersionLine(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--version"}, {"version"}, {"-version"}, {"--version", "app-server"}} {
		status, out, errs := apptest.Execute(t, t.TempDir(), args...)
		require.Zero(t, status)
		require.Regexp(t, `^codex-cli 0\.169\.0\b.*\n$`, out)
		require.Empty(t, errs)
	}
}

// TestOptionsBeforeAndAfterCommand accepts options at both places.
func TestOptionsBeforeAndAfterCommand(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"-c model_provider=offline",
		"-c model_provider=offline app-server",
		"app-server -c model_provider=offline",
		"app-server --listen stdio:// -c model_provider=offline",
		"app-server -c model_provider=offline --analytics-default-enabled",
		"--config model_provider=offline app-server --listen stdio://",
		"--listen stdio:// --config=model_provider=offline",
		"-c model_provider=openai app-server -c model_provider=offline",
		"--model-provider offline app-server",
		"app-server --model-provider=offline",
		"--model-provider offline -c model_provider=openai app-server --log-level=debug",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			c := apptest.StartServer(t, t.TempDir(), strings.Fields(args)...)
			c.Initialize()
			var r struct{ ModelProvider string }
			require.NoError(t, json.Unmarshal(c.Call("thread/start", apptest.Object{}), &r))
			require.Equal(t, "offline", r.ModelProvider)
			c.Close()
		})
	}
}

// TestSourceOfThreads names the source in the rollout and on the wire.
func TestSourceOfThreads(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]struct{ stored, shown string }{
		"":                          {`"vscode"`, `"vscode"`},
		" --session-source exec":    {`"exec"`, `"exec"`},
		" --session-source cli":     {`"cli"`, `"cli"`},
		" --session-source mcp":     {`"mcp"`, `"appServer"`},
		" --session-source my-tool": {`{"custom":"my-tool"}`, `{"custom":"my-tool"}`},
	} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			c := apptest.StartServer(t, t.TempDir(), strings.Fields("--model-provider offline"+flag)...)
			c.Initialize()
			var r struct {
				Thread struct {
					ID     string
					Source json.RawMessage
				}
			}
			require.NoError(t, json.Unmarshal(c.Call("thread/start", apptest.Object{}), &r))
			require.JSONEq(t, want.shown, string(r.Thread.Source))
			first, _, _ := strings.Cut(c.StoredLines(r.Thread.ID), "\n")
			require.JSONEq(t, want.stored, gjson.Get(first, "payload.source").Raw)
			c.Close()
		})
	}
}

// TestWrongArgumentsAreExplained requires status 2 and a message.
func TestWrongArgumentsAreExplained(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--no-such-flag":                    "no-such-flag",
		"--session-source=":                 "is empty",
		"app-server --no-such-flag":         "no-such-flag",
		"no-such-command":                   `"no-such-command"`,
		"app-server extra":                  `"extra"`,
		"app-server --listen tcp://:1":      `"tcp://:1"`,
		"--listen tcp://:1":                 `"tcp://:1"`,
		"--listen tcp://:1 app-server":      `"tcp://:1"`,
		"-c":                                "-c",
		"generate-json-schema":              "--out",
		"generate-ts --out":                 "-out",
		"--exit-with-parent=maybe":          "exit-with-parent",
		"generate-json-schema --out x more": `"more"`,
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			cmd := apptest.ServerCommand(t, home, strings.Fields(args)...)
			cmd.Dir = home
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			require.Error(t, cmd.Run())
			require.Equal(t, 2, cmd.ProcessState.ExitCode())
			require.Empty(t, stdout.String())
			require.Contains(t, stderr.String(), want)
		})
	}
	for _, word := range []string{"--help", "-h", "help"} {
		status, out, errs := apptest.Execute(t, t.TempDir(), word)
		require.Zero(t, status)
		require.Contains(t, out, "app-server")
		require.Empty(t, errs)
	}
}

// TestHelpBelongsToTheCommand prints the help of a command, and refers to it if a flag is wrong.
func TestHelpBelongsToTheCommand(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"web", "proxy", "generate-ts", "version"} {
		status, out, errs := apptest.Execute(t, t.TempDir(), command, "--help")
		require.Zero(t, status)
		require.Contains(t, out, "Usage: appserver "+command)
		require.Empty(t, errs)
		status, _, errs = apptest.Execute(t, t.TempDir(), command, "--wrong")
		require.Equal(t, 2, status)
		require.Equal(t, "appserver: flag provided but not defined: -wrong\nRun appserver "+command+" --help for usage.\n", errs)
	}
	_, _, errs := apptest.Execute(t, t.TempDir(), "--wrong")
	require.Equal(t, "appserver: flag provided but not defined: -wrong\nRun appserver --help for usage.\n", errs)
}

// TestInvalidConfigurationIsExplained requires status 1 and the file, line and key.
func TestInvalidConfigurationIsExplained(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"model = \"m\"\n\nsandbox_mode = \"readonly\"\n":                  `config\.toml:3: sandbox_mode: .*readonly`,
		"[model_providers.x]\nbase_url = 5\n":                             `config\.toml:2: model_providers\.x\.base_url: expected a string`,
		"model = \n":                                                      `config\.toml:1`,
		"model = \"m\"\nmodel = \"n\"\n":                                  `config\.toml:2`,
		"[model_providers.offline]\nscript = \"gone.json\"\n":             `script.*gone\.json`,
		"model_provider = \"nowhere\"\nstream_idle_timeout = true\n\x00a": `config\.toml:3`,
	} {
		home := t.TempDir()
		apptest.WriteConfig(t, home, text)
		status, out, errs := apptest.Execute(t, home)
		require.Equal(t, 1, status, text)
		require.Empty(t, out)
		require.Regexp(t, regexp.MustCompile(want), errs)
	}
	status, _, errs := apptest.Execute(t, t.TempDir(), "-c", "model_context_window=big")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "-c model_context_window=big: model_context_window: expected an integer")
}

// TestUnknownKeysWarnClients serves with unknown keys, and warns each client.
func TestUnknownKeysWarnClients(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	apptest.WriteConfig(t, home, "model_provider = \"offline\"\nmodle = \"m\"\n")
	c := apptest.StartServer(t, home)
	c.Initialize()
	require.Contains(t, string(c.UntilMethod("configWarning").Params), "config.toml:2")
	c.Close()
}

// TestGenerateSchemas writes the schemas of all messages into a new folder.
func TestGenerateSchemas(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"generate-json-schema", "generate-ts"} {
		dir := filepath.Join(t.TempDir(), "new", "folder")
		status, out, errs := apptest.Execute(t, t.TempDir(), command, "--out", dir)
		require.Zero(t, status, errs)
		require.Empty(t, out)
		written := contents(t, dir)
		for _, m := range protocol.Methods() {
			require.Contains(t, written, m.Params.Name(), command)
		}
		status, _, errs = apptest.Execute(t, t.TempDir(), command, "--experimental", "--out", "/dev/null/x")
		require.Equal(t, 1, status)
		require.Contains(t, errs, "/dev/null")
	}
}

// contents returns the names and texts of all files below a folder.
func contents(t *testing.T, dir string) string {
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			all.WriteString(path + "\n" + string(text) + "\n")
		}
		return nil
	}))
	return all.String()
}

// TestServesWithoutStderr starts servers whose stderr is closed, is never read, or has lost its
// reader.
func TestServesWithoutStderr(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	fillPipe(t, writer)
	defer reader.Close()
	closed, broken, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	for name, cmd := range map[string]*exec.Cmd{
		"closed":     apptest.ThroughShell(apptest.OfflineCommand(t, t.TempDir(), "--log-level=debug"), `exec "$@" 2>&-`),
		"never read": apptest.OfflineCommand(t, t.TempDir(), "--log-level=debug"),
		"gone":       apptest.OfflineCommand(t, t.TempDir(), "--log-level=debug"),
	} {
		switch name {
		case "never read":
			cmd.Stderr = writer
		case "gone":
			cmd.Stderr = broken
		}
		c := apptest.StartProcess(t, cmd)
		c.Initialize()
		id := c.StartTrusted()
		for range 1000 {
			c.Write(`{"id":0,"result":"nobody asked"}`) // a line for the log
		}
		c.BeginTurn(id, "run: echo hello; echo error >&2")
		require.Equal(t, "hello\nerror\n", c.UntilCommand().AggregatedOutput, name)
		c.AwaitTurn()
		c.Close()
	}
	require.NoError(t, writer.Close())
	require.NoError(t, broken.Close())
}

// fillPipe writes to a pipe until it is full.
func fillPipe(t *testing.T, pipe *os.File) {
	require.NoError(t, pipe.SetWriteDeadline(time.Now().Add(100*time.Millisecond)))
	var full error
	for full == nil {
		_, full = pipe.Write(make([]byte, 4096))
	}
	require.ErrorIs(t, full, os.ErrDeadlineExceeded)
}

// TestLogGoesToStderr requires the configured format, and nothing on stdout.
func TestLogGoesToStderr(t *testing.T) {
	t.Parallel()
	cmd := apptest.OfflineCommand(t, t.TempDir(), "app-server", "--log-level=debug", "--log-format=json")
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stderr = writer
	c := apptest.StartProcess(t, cmd)
	require.NoError(t, writer.Close())
	c.Initialize()
	c.Write(`{"id":0,"result":"nobody asked"}`)
	c.Call("model/list", apptest.Object{})
	c.Close()
	text, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.NotEmpty(t, lines)
	for _, line := range lines {
		require.True(t, json.Valid([]byte(line)), line)
	}
}
