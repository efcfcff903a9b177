package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// toolNames returns the names of the tools in a request.
func toolNames(body string) (names []string) {
	for _, tool := range gjson.Get(body, "tools.#.function.name").Array() {
		names = append(names, tool.Str)
	}
	return names
}

// TestShellCanBeTurnedOff checks features.shell_tool = false: no tool for commands is offered, and a call runs nothing.
func TestShellCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t,
		apptest.ShellAnswerWith("a", apptest.Object{"command": "touch made"}),
		callAnswer("b", "exec_command", apptest.Object{"cmd": "touch made"}),
		callAnswer("c", "container.exec", apptest.Object{"command": []string{"touch", "made"}}), apptest.TextAnswer("No shell."))
	c := apptest.StartServer(t, p.Home(t), "-c", "features.shell_tool=false")
	c.Initialize()
	dir := t.TempDir()
	c.Turn(c.StartThread(apptest.Object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "never"}), "go")
	c.Close()
	require.NoFileExists(t, filepath.Join(dir, "made"))
	names := toolNames(p.Requests()[0].Body)
	require.Contains(t, names, "apply_patch")
	for _, name := range []string{"shell", "exec_command", "write_stdin"} {
		require.NotContains(t, names, name)
	}
	require.Equal(t, 3, strings.Count(p.Requests()[3].Body, "the configuration turns the shell off"))
}

// TestToolsCanBeTurnedOff checks the switches of single tools, also in plan mode.
func TestToolsCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t,
		callAnswer("a", "update_plan", apptest.Object{"plan": []any{}}), apptest.TextAnswer("No plan."))
	c := apptest.StartServer(t, p.Home(t), "-c", "tools.update_plan.enabled=false", "-c", "features.view_image=false",
		"-c", "tools.view_image=true", "-c", "tools.experimental_request_user_input.enabled=false",
		"-c", "features.default_mode_request_user_input=true")
	c.Initialize()
	c.Turn(c.StartThread(apptest.Object{"cwd": t.TempDir()}), "go")
	require.Zero(t, c.Count("turn/plan/updated"))
	c.Close()
	names := toolNames(p.Requests()[0].Body)
	require.Contains(t, names, "shell")
	for _, name := range []string{"update_plan", "view_image", "request_user_input"} {
		require.NotContains(t, names, name)
	}
}

// TestLoginShellCanBeTurnedOff checks allow_login_shell = false: no command reads the profile, whatever the model asks
// for.
func TestLoginShellCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t,
		apptest.ShellAnswerWith("a", apptest.Object{"command": "shopt -q login_shell && touch login"}),
		callAnswer("b", "exec_command", apptest.Object{"cmd": "shopt -q login_shell && touch login", "login": true}),
		apptest.TextAnswer("Done."))
	cmd := apptest.ServerCommand(t, p.Home(t), "-c", "allow_login_shell=false")
	cmd.Env = append(cmd.Env, "SHELL=/bin/bash")
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	dir := t.TempDir()
	c.Turn(c.StartThread(apptest.Object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "never"}), "go")
	c.Close()
	require.NoFileExists(t, filepath.Join(dir, "login"))
}

// TestOutputsOfToolsAreLimited checks tool_output_token_limit for both tools that run commands.
func TestOutputsOfToolsAreLimited(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t,
		apptest.ShellAnswerWith("a", apptest.Object{"command": "seq 5000"}),
		callAnswer("b", "exec_command", apptest.Object{"cmd": "seq 5000"}), apptest.TextAnswer("Done."))
	c := apptest.StartServer(t, p.Home(t), "-c", "tool_output_token_limit=100")
	c.Initialize()
	c.Turn(c.StartThread(apptest.Object{"cwd": t.TempDir(), "sandbox": "danger-full-access", "approvalPolicy": "never"}), "go")
	c.Close()
	outputs := gjson.Get(p.Requests()[2].Body, `messages.#(role=="tool")#.content`).Array()
	require.Len(t, outputs, 2)
	for _, output := range outputs {
		require.LessOrEqual(t, len(output.Str), 500)
		require.Contains(t, output.Str, "5000")
	}
}

// TestEnvironmentContextCanBeLeftOut checks the keys for the description of the environment.
func TestEnvironmentContextCanBeLeftOut(t *testing.T) {
	t.Parallel()
	for key, texts := range map[string][]string{
		"include_environment_context":      {"environment_context"},
		"include_environment_context_time": {"current_date", "timezone"},
	} {
		p := apptest.NewProvider(t, apptest.TextAnswer("Done."))
		c := apptest.StartServer(t, p.Home(t), "-c", key+"=false")
		c.Initialize()
		c.Turn(c.StartThread(apptest.Object{"cwd": t.TempDir()}), "go")
		c.Close()
		for _, text := range texts {
			require.NotContains(t, gjson.Get(p.Requests()[0].Body, "messages").Raw, text)
		}
	}
}

// TestListOfSkillsCanBeLeftOut checks the keys for the list of skills in prompts.
func TestListOfSkillsCanBeLeftOut(t *testing.T) {
	t.Parallel()
	for key, listed := range map[string]bool{"model=\"m\"": true, "skills.include_instructions=false": false, "skills.max_context_tokens=1": false} {
		p := apptest.NewProvider(t, apptest.TextAnswer("Done."))
		home := p.Home(t)
		writeFile(t, filepath.Join(home, "skills/own/SKILL.md"), "---\nname: own-skill\ndescription: A skill.\n---\nDo it.\n")
		c := apptest.StartServer(t, home, "-c", key)
		c.Initialize()
		c.Turn(c.StartThread(apptest.Object{"cwd": t.TempDir()}), "go")
		c.Close()
		require.Equal(t, listed, strings.Contains(p.Requests()[0].Body, "own-skill"), key)
	}
}

// TestThreadsInMemoryHaveNoRollout checks experimental_thread_store.type.
func TestThreadsInMemoryHaveNoRollout(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home, "-c", "experimental_thread_store={type=\"in_memory\",id=\"x\"}")
	c.Turn(c.StartThread(apptest.Object{"cwd": t.TempDir()}), "hi")
	c.Close()
	require.NoDirExists(t, filepath.Join(home, "sessions"))
}

// TestRestrictionThatCannotBeObeyedEndsTheStart checks the error of the process, and of a thread.
func TestRestrictionThatCannotBeObeyedEndsTheStart(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home)
	e := c.CallRejected("thread/start", apptest.Object{"cwd": t.TempDir(), "config": apptest.Object{"features": apptest.Object{"network_proxy": apptest.Object{"domains": apptest.Object{"x": "deny"}}}}})
	require.Contains(t, e.Message, "features.network_proxy")
	require.Contains(t, e.Message, "does not have the restriction")
	c.Close()
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte("profile = \"careful\"\n"), 0o600))
	cmd := apptest.OfflineCommand(t, home)
	cmd.Stderr = nil
	text, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(text), "config.toml:1: profile: profiles are not applied")
}
