package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// secretEnv are variables of a server. Those of plainEnv have no secrets.
var (
	secretEnv = []string{"GH_PAT=x1y2", "NPM_AUTH=x1y2", "PGPASS=x1y2", "JWT=x1y2", "COOKIE=a=x1y2",
		"DATABASE_URL=postgres://app:x1y2@db/app", "UNNAMED=q7Zr2Kx9LmT4vB8nY1Wc"}
	plainEnv = []string{"PLAIN_URL=postgres://app@db/app", "SSH_AUTH_SOCK=/tmp/ssh-x/agent.1",
		"XDG_SESSION_ID=2", "PULSE_COOKIE=/home/me/.config/pulse/cookie", "BUILD_SHA=ffac537e6cbbf934b08745a378932722df287a53"}
)

// startSecretEnv starts a server with these variables and a model that runs scripts.
func startSecretEnv(t *testing.T, args ...string) (*apptest.Client, apptest.ScriptedModel) {
	t.Helper()
	m := apptest.NewScriptedModel(t)
	cmd := apptest.ServerCommand(t, m.Home(t), args...)
	cmd.Env = slices.Concat(cmd.Env, secretEnv, plainEnv)
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	return c, m
}

// requireVariables requires that a command gets exactly these of the variables.
func requireVariables(t *testing.T, c *apptest.Client, m apptest.ScriptedModel, thread string, want []string) {
	t.Helper()
	c.RunScript(thread, apptest.ShellCall("env"))
	got := strings.Split(m.LastOutput(), "\n")
	for _, entry := range slices.Concat(secretEnv, plainEnv) {
		require.Equal(t, slices.Contains(want, entry), slices.Contains(got, entry), entry)
	}
}

// warned returns the warnings about the environment that a client got.
func warned(c *apptest.Client) (messages []string) {
	for _, m := range c.Seen {
		text := gjson.GetBytes(m.Params, "message").Str
		if m.Method == "warning" && strings.Contains(text, "environment variables") {
			messages = append(messages, text)
		}
	}
	return messages
}

// trusted returns the params of threads that run any command.
func trusted(t *testing.T) apptest.Object {
	return apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "never", "sandbox": "danger-full-access"}
}

// TestCommandsGetNoSecretVariables runs commands in two threads. They get no variables that look like secrets. The
// client is warned once, by names only. The model learns about those that it names.
func TestCommandsGetNoSecretVariables(t *testing.T) {
	t.Parallel()
	c, m := startSecretEnv(t)
	for range 2 {
		requireVariables(t, c, m, c.StartThread(trusted(t)), plainEnv)
	}
	c.RunScript(c.StartThread(trusted(t)), apptest.ShellCall("echo $GH_PAT; true"))
	require.Contains(t, m.LastOutput(), "has removed GH_PAT from the environment of commands")
	require.NotContains(t, m.LastOutput(), "NPM_AUTH")
	c.Close()
	messages := warned(c)
	require.Len(t, messages, 1)
	for _, entry := range secretEnv {
		name, value, _ := strings.Cut(entry, "=")
		require.Contains(t, messages[0], name)
		require.NotContains(t, messages[0], value)
	}
	for _, entry := range plainEnv {
		name, _, _ := strings.Cut(entry, "=")
		require.NotContains(t, messages[0], name)
	}
}

// TestKeptAndFilteredVariables sets keep and filters.
func TestKeptAndFilteredVariables(t *testing.T) {
	t.Parallel()
	c, m := startSecretEnv(t, "-c", `shell_environment_policy.keep=["gh_*"]`,
		"-c", `shell_environment_policy.filters={"XDG_*" = "exclude", "*_*" = "include", "PATH" = "include"}`)
	requireVariables(t, c, m, c.StartThread(trusted(t)),
		[]string{secretEnv[0], plainEnv[0], plainEnv[1], plainEnv[3], plainEnv[4]})
	c.Close()
}

// TestCommandsReadNoProfile sets experimental_use_profile to false. A profile has no effect then.
func TestCommandsReadNoProfile(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{"true": "from the profile\n", "false": "\n"} {
		m := apptest.NewScriptedModel(t)
		home := m.Home(t)
		require.NoError(t, os.WriteFile(filepath.Join(home, ".bash_profile"), []byte("PROFILED='from the profile'\n"), 0o600))
		c := apptest.StartServer(t, home, "-c", "shell_environment_policy.experimental_use_profile="+setting)
		c.Initialize()
		c.RunScript(c.StartThread(trusted(t)), apptest.ExecCall(`echo "x$PROFILED"`, nil))
		require.Contains(t, m.LastOutput(), "x"+want)
		c.RunScript(c.StartThread(trusted(t)), apptest.ShellCall(`echo "x$PROFILED"`))
		require.Contains(t, m.LastOutput(), "x"+want)
		c.Close()
	}
}

// TestProjectsCannotPassSecretVariables has a trusted project whose file asks for secrets.
func TestProjectsCannotPassSecretVariables(t *testing.T) {
	t.Parallel()
	c, m := startSecretEnv(t)
	params := trusted(t)
	folder := filepath.Join(params["cwd"].(string), ".codex")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "config.toml"),
		[]byte("[shell_environment_policy]\nignore_default_excludes = true\nkeep = [\"*\"]\nexclude = [\"XDG_*\"]\n"), 0o600))
	requireVariables(t, c, m, c.StartThread(params),
		[]string{plainEnv[0], plainEnv[1], plainEnv[3], plainEnv[4]})
	c.Close()
}
