package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// asCodex is the binary by the name of the reference implementation's.
func asCodex(t *testing.T) string {
	t.Helper()
	path, err := apptest.Binary()
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "codex")
	require.NoError(t, os.Symlink(path, link))
	return link
}

// TestBinaryAsCodexTellsAVersion that programs read, and nothing else.
func TestBinaryAsCodexTellsAVersion(t *testing.T) {
	t.Parallel()
	codex := asCodex(t)
	for _, args := range []string{"--version", "-V", "version", "app-server --version", "-c model=x --version"} {
		out, err := apptest.ProcessCommand(t, t.TempDir(), codex, strings.Fields(args)...).Output()
		require.NoError(t, err, args)
		require.Equal(t, "codex-cli 0.169.0\n", string(out), args)
	}
}

// TestBinaryAsCodexServes with what clients put on its command line, and runs commands: the
// program is found again under its own name.
func TestBinaryAsCodexServes(t *testing.T) {
	t.Parallel()
	codex := asCodex(t)
	for _, args := range []string{
		"app-server",
		"app-server --stdio",
		"app-server --analytics-default-enabled",
		"app-server --enable foo --disable bar --strict-config",
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

// TestBinaryAsCodexTellsWhetherItCanBeUsed where clients ask for a login.
func TestBinaryAsCodexTellsWhetherItCanBeUsed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{asCodex(t), must(apptest.Binary())} {
		text, err := apptest.ProcessCommand(t, t.TempDir(), name, "login", "status", "-c",
			"model_provider=offline").CombinedOutput()
		require.Error(t, err, "flags stand before: %s", text)
		for _, args := range [][]string{{"-c", "model_provider=offline", "login", "status"},
			{"login", "-c", "model_provider=offline", "status"}} {
			cmd := apptest.ProcessCommand(t, t.TempDir(), name, args...)
			out, err := cmd.Output()
			require.NoError(t, err)
			require.Contains(t, string(out), "Logged in")
		}
		cmd := apptest.ProcessCommand(t, t.TempDir(), name, "login", "status")
		cmd.Stderr = nil
		text, err = cmd.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, 1, cmd.ProcessState.ExitCode())
		require.Contains(t, string(text), "not logged in")
		require.Contains(t, string(text), "OPENAI_API_KEY", "what to do")
	}
}

func must(path string, err error) string {
	if err != nil {
		panic(err)
	}
	return path
}

// TestBinaryAsCodexRefuses what it is not, with the status that the reference implementation
// has for wrong command lines.
func TestBinaryAsCodexRefuses(t *testing.T) {
	t.Parallel()
	codex := asCodex(t)
	for args, says := range map[string]string{
		"": "run codex app-server", "exec hello": "no command", "login": "no accounts", "app-server --bogus": "-bogus",
		"--bogus app-server": "-bogus", "app-server extra": "unexpected argument", "app-server exec": "unexpected argument",
		"app-server generate-ts": "--out DIR is missing", "app-server --listen foo": "expected stdio://",
	} {
		cmd := apptest.ProcessCommand(t, t.TempDir(), codex, strings.Fields(args)...)
		cmd.Stderr = nil
		text, err := cmd.CombinedOutput()
		require.Error(t, err, args)
		require.Equal(t, 2, cmd.ProcessState.ExitCode(), args)
		require.Contains(t, string(text), says, args)
	}
	dir := t.TempDir()
	_, err := apptest.ProcessCommand(t, t.TempDir(), codex, "app-server", "generate-json-schema", "--out", dir).Output()
	require.NoError(t, err)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, files)
}
