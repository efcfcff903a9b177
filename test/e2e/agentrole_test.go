package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// putRole writes a file of a role.
func putRole(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// roleCall returns a call that starts an agent of a role, whose task is a script.
func roleCall(role string, task ...[]apptest.ToolCall) []apptest.ToolCall {
	return spawnCall(apptest.ScriptText(task...), apptest.Object{"agent_type": role})
}

// childOf returns the only agent that a thread has started.
func childOf(t *testing.T, c *apptest.Client, thread string) (child gjson.Result) {
	t.Helper()
	list := gjson.ParseBytes(c.Call("thread/list", apptest.Object{"parentThreadId": thread})).Get("data").Array()
	require.Len(t, list, 1)
	return list[0]
}

const reviewerRole = `name = "reviewer"
description = "Reviews a change."
developer_instructions = "Look for faults only."
model = "small"
model_reasoning_effort = "low"
nickname_candidates = ["Rev One"]
tools = ["exec_command"]
`

func TestARoleDecidesAboutItsAgents(t *testing.T) {
	t.Parallel()
	p := apptest.NewScriptedModel(t)
	home := p.Home(t)
	putRole(t, filepath.Join(home, "agents", "reviewer.toml"), reviewerRole)
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartTrusted()
	task := apptest.ScriptText(apptest.OneCall("update_plan", apptest.Object{"plan": []any{}}))
	c.BeginTurn(thread, apptest.ScriptText(
		spawnCall("x", apptest.Object{"agent_type": "nope"}),
		spawnCall("x", apptest.Object{"agent_type": "reviewer", "fork_context": true}),
		spawnCall(task, apptest.Object{"agent_type": "reviewer", "model": "large"})))
	awaitTurns(c, 2)
	child := childOf(t, c, thread)
	require.Equal(t, "reviewer", child.Get("agentRole").Str)
	require.Equal(t, "Rev One", child.Get("agentNickname").Str)

	var failed []string
	for _, m := range c.Seen {
		if item := gjson.GetBytes(m.Params, "item"); m.Method == "item/completed" && item.Get("status").Str == "failed" {
			failed = append(failed, item.Get("tool").Str)
		}
	}
	require.Equal(t, []string{"spawnAgent", "spawnAgent"}, failed)
	outputs := outputsOf(p)
	require.Contains(t, outputs, "unknown agent_type 'nope'")
	require.Contains(t, strings.Join(outputs, "\n"), "leave out agent_type, or fork_context")

	require.Contains(t, p.Requests()[0].Body, `reviewer: Reviews a change.`)
	request := requestOf(t, p, task)
	require.Equal(t, "small", gjson.Get(request.Body, "model").Str, "the role is stronger than the call")
	require.Equal(t, "low", gjson.Get(request.Body, "reasoning_effort").Str)
	require.Contains(t, request.Body, "Look for faults only.")
	names := gjson.Get(request.Body, "tools.#.function.name").Raw
	require.Equal(t, `["shell","exec_command","write_stdin"]`, names)
	require.Contains(t, strings.Join(outputs, "\n"), `There is no tool "update_plan"`)
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	require.NoError(t, os.Remove(filepath.Join(home, "agents", "reviewer.toml")))
	c.Call("thread/resume", apptest.Object{"threadId": child.Get("id").Str})
	c.Turn(child.Get("id").Str, "go on")
	require.Equal(t, names, gjson.Get(requestOf(t, p, "go on").Body, "tools.#.function.name").Raw,
		"an agent keeps the tools of its role")
	fork := c.CallThread("thread/fork", apptest.Object{"threadId": child.Get("id").Str}).ID
	c.Turn(fork, "as a thread")
	require.Contains(t, gjson.Get(requestOf(t, p, "as a thread").Body, "tools.#.function.name").Raw, "update_plan",
		"a fork is an ordinary thread")
	c.Close()
}

// TestAnAgentThatOnlyReadsChangesNothing starts a subagent of Claude Code that has no tool that writes.
func TestAnAgentThatOnlyReadsChangesNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tools   string
		patches bool
	}{"reads": {"Read, Grep", false}, "edits": {"Read, Edit", true}} {
		p := apptest.NewScriptedModel(t)
		home, work := p.Home(t), t.TempDir()
		putRole(t, filepath.Join(home, ".claude", "agents", "reader.md"),
			"---\nname: reader\ndescription: Reads.\ntools: "+tt.tools+"\n---\nRead only.\n")
		require.NoError(t, os.WriteFile(filepath.Join(work, "text"), []byte("to be read\n"), 0o600))
		c := apptest.StartServer(t, home)
		c.Initialize()
		thread := c.StartThread(apptest.Object{"cwd": work, "sandbox": "danger-full-access", "approvalPolicy": "never"})
		patch := "*** Begin Patch\n*** Add File: patched\n+x\n*** End Patch\n"
		c.BeginTurn(thread, apptest.ScriptText(roleCall("reader",
			apptest.ShellCall("cat text; echo x > written"),
			apptest.OneCall("shell", apptest.Object{"command": "echo x > escalated", "sandbox_permissions": "require_escalated",
				"justification": "must"}),
			apptest.OneCall("apply_patch", apptest.Object{"input": patch}),
			apptest.ShellCall("apply_patch <<'EOF'\n"+strings.ReplaceAll(patch, "patched", "inshell")+"EOF"))))
		awaitTurns(c, 2)
		c.Close()
		outputs := strings.Join(outputsOf(p), "\n")
		require.Contains(t, outputs, "to be read", name)
		require.Contains(t, outputs, "the role of this agent only reads", name)
		for file, written := range map[string]bool{
			"written": false, "escalated": false, "patched": tt.patches, "inshell": tt.patches,
		} {
			_, err := os.Stat(filepath.Join(work, file))
			require.Equal(t, written, err == nil, "%s: %s\n%s", name, file, outputs)
		}
	}
}

func TestRolesOfAProjectNeedItsTrust(t *testing.T) {
	t.Parallel()
	for _, trust := range []string{"trusted", "untrusted"} {
		p := apptest.NewScriptedModel(t)
		home, work := p.Home(t), t.TempDir()
		putRole(t, filepath.Join(work, ".claude", "agents", "a.md"), "---\nname: ofclaude\ndescription: One.\n---\nOne.\n")
		putRole(t, filepath.Join(work, ".codex", "agents", "b.toml"),
			"name = \"wide\"\ndescription = \"Two.\"\ndeveloper_instructions = \"Two.\"\nsandbox_mode = \"danger-full-access\"\n")
		putRole(t, filepath.Join(work, ".codex", "agents", "c.toml"), "broken")
		c := apptest.StartServer(t, home, "-c", fmt.Sprintf(`projects.%q.trust_level=%q`, work, trust))
		c.Initialize()
		thread := c.StartThread(apptest.Object{"cwd": work, "sandbox": "read-only", "approvalPolicy": "never"})
		c.BeginTurn(thread, apptest.ScriptText(roleCall("wide"), spawnCall("task", apptest.Object{"agent_type": "ofclaude"})))
		trusted := trust == "trusted"
		if awaitTurns(c, 1); trusted && len(c.Seen) > 0 {
			c.Turn(thread, "once more")
		}
		warned := false
		for _, m := range c.Seen {
			warned = warned || m.Method == "warning" && strings.Contains(string(m.Params), "c.toml: the agent role is left out")
		}
		c.Close()
		require.Equal(t, trusted, warned)
		require.Equal(t, trusted, strings.Contains(p.Requests()[0].Body, "ofclaude: One."))
		outputs := strings.Join(outputsOf(p), "\n")
		if trusted {
			require.Contains(t, outputs, "asks for the sandbox danger-full-access, and this thread has read-only")
			require.Contains(t, outputs, `"agent_id"`)
		} else {
			require.Contains(t, outputs, "unknown agent_type 'wide'\nunknown agent_type 'ofclaude'")
		}
	}
}

func TestARoleOfAProjectNarrowsTheSandbox(t *testing.T) {
	t.Parallel()
	p := apptest.NewScriptedModel(t)
	home, work := p.Home(t), t.TempDir()
	putRole(t, filepath.Join(work, ".codex", "agents", "narrow.toml"),
		"name = \"narrow\"\ndescription = \"Two.\"\ndeveloper_instructions = \"Two.\"\nsandbox_mode = \"read-only\"\n")
	c := apptest.StartServer(t, home, "-c", fmt.Sprintf(`projects.%q.trust_level="trusted"`, work))
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": work, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	c.BeginTurn(thread, apptest.ScriptText(roleCall("narrow", apptest.ShellCall("echo x > written"))))
	awaitTurns(c, 2)
	require.NoFileExists(t, filepath.Join(work, "written"))
	resumed := c.Call("thread/resume", apptest.Object{"threadId": childOf(t, c, thread).Get("id").Str})
	require.Equal(t, "readOnly", gjson.GetBytes(resumed, "sandbox.type").Str)
	c.Close()
}
