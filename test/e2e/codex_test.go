package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// asCodex returns a link to the server with the name of the reference implementation's program.
func asCodex(t *testing.T) string {
	t.Helper()
	path, err := apptest.Binary()
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "codex")
	require.NoError(t, os.Symlink(path, link))
	return link
}

// TestCodexVersionIsParsable requires the version line that programs parse.
func TestCodexVersionIsParsable(t *testing.T) {
	t.Parallel()
	codex := asCodex(t)
	for _, args := range []string{"--version", "-V", "version", "app-server --version", "-c model=x --version"} {
		out, err := apptest.ProcessCommand(t, t.TempDir(), codex, strings.Fields(args)...).Output()
		require.NoError(t, err, args)
		require.Equal(t, "codex-cli 0.169.0\n", string(out), args)
	}
}

// TestCodexLinkServes starts the link with the usual arguments of clients. Commands run, because
// the program finds itself by its own name.
func TestCodexLinkServes(t *testing.T) {
	t.Parallel()
	codex := asCodex(t)
	for _, args := range []string{
		"app-server",
		"app-server --stdio",
		"app-server --analytics-default-enabled",
		"app-server --enable foo --disable bar",
		"app-server --strict-config",
		"--enable foo app-server --listen stdio://",
		"--config features.x=true app-server --listen=stdio:// --session-source vscode",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			c := apptest.StartProcess(t,
				apptest.ProcessCommand(t, t.TempDir(), codex,
					append([]string{"-c", "model_provider=offline"}, strings.Fields(args)...)...))
			c.Initialize()
			id := c.StartTrusted()
			c.BeginTurn(id, "run: echo here")
			c.UntilOutput("here\n")
			require.Equal(t, "completed", c.AwaitTurn().Status)
			c.Close()
		})
	}
}

// TestCodexLoginStatus reports whether a provider can be used.
func TestCodexLoginStatus(t *testing.T) {
	t.Parallel()
	for _, name := range []string{asCodex(t), must(apptest.Binary())} {
		for _, args := range [][]string{{"-c", "model_provider=offline", "login", "status"},
			{"login", "-c", "model_provider=offline", "status"}, {"login", "status", "-c", "model_provider=offline"}} {
			cmd := apptest.ProcessCommand(t, t.TempDir(), name, args...)
			out, err := cmd.Output()
			require.NoError(t, err)
			require.Contains(t, string(out), "Logged in")
		}
		cmd := apptest.ProcessCommand(t, t.TempDir(), name, "login", "status")
		cmd.Stderr = nil
		text, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, 1, cmd.ProcessState.ExitCode())
		require.Contains(t, string(text), "not logged in")
		require.Contains(t, string(text), "OPENAI_API_KEY", "the next action")
	}
}

func must(path string, err error) string {
	if err != nil {
		panic(err)
	}
	return path
}

// TestCodexRejectsUnknownCommands requires the exit status of the reference implementation.
func TestCodexRejectsUnknownCommands(t *testing.T) {
	t.Parallel()
	codex := asCodex(t)
	for args, message := range map[string]string{
		"": "run codex app-server", "exec hello": "unknown command", "login extra": "unexpected argument", "login --api-key sk-x": "visible to other", "app-server --bogus": "-bogus",
		"--bogus app-server": "-bogus", "app-server extra": "unexpected argument", "app-server exec": "unexpected argument",
		"app-server generate-ts": "--out DIR is missing", "app-server --listen foo": "expected stdio://",
	} {
		cmd := apptest.ProcessCommand(t, t.TempDir(), codex, strings.Fields(args)...)
		cmd.Stderr = nil
		text, err := cmd.CombinedOutput()
		require.Error(t, err, args)
		require.Equal(t, 2, cmd.ProcessState.ExitCode(), args)
		require.Contains(t, string(text), message, args)
	}
	dir := t.TempDir()
	_, err := apptest.ProcessCommand(t, t.TempDir(), codex, "app-server", "generate-json-schema", "--out", dir).Output()
	require.NoError(t, err)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, files)
}

// TestStrictConfigRefusesUnknownKeys: with --strict-config, an unknown key is no warning but an error, in the file, on
// the command line, in the config of a thread and in a project.
func TestStrictConfigRefusesUnknownKeys(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	apptest.WriteConfig(t, home, "modell = \"x\"\n")
	status, _, errs := apptest.Execute(t, home, "--strict-config")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "config.toml:1: modell: unknown key")
	status, _, errs = apptest.Execute(t, t.TempDir(), "--strict-config", "-c", "modell=x")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "modell: unknown key")

	c := apptest.StartOffline(t, t.TempDir(), "--strict-config")
	err := c.CallRejected("thread/start", apptest.Object{"config": apptest.Object{"modell": "x"}})
	require.Equal(t, "config.modell", err.Data.Field)
	project := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(project, ".codex"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(project, ".codex", "config.toml"), []byte("modell = \"x\"\n"), 0o600))
	err = c.CallRejected("thread/start", apptest.Object{"cwd": project, "sandbox": "workspace-write"})
	require.Contains(t, err.Message, "modell: unknown key")
	c.Close()
}
