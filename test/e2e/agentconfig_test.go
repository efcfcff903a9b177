package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// spawnCall returns a call that starts an agent with a message.
func spawnCall(message string, more apptest.Object) []apptest.ToolCall {
	arguments := apptest.Object{"message": message}
	for name, value := range more {
		arguments[name] = value
	}
	return apptest.OneCall("spawn_agent", arguments)
}

// startAgents starts a server with a scripted model, and a thread that may do everything.
func startAgents(t *testing.T, args ...string) (p apptest.ScriptedModel, c *apptest.Client, thread string) {
	t.Helper()
	p = apptest.NewScriptedModel(t)
	c = apptest.StartServer(t, p.Home(t), args...)
	c.Initialize()
	return p, c, c.StartTrusted()
}

// awaitTurns awaits the ends of turns of n threads.
func awaitTurns(c *apptest.Client, n int) (ended map[string]gjson.Result) {
	ended = map[string]gjson.Result{}
	c.Until(func(m apptest.Message) bool {
		if m.Method == "turn/completed" {
			ended[gjson.GetBytes(m.Params, "threadId").Str] = gjson.GetBytes(m.Params, "turn")
		}
		return len(ended) == n
	})
	return ended
}

// outputsOf returns the outputs of tools in all requests, each once.
func outputsOf(p apptest.ScriptedModel) (outputs []string) {
	for _, r := range p.Requests() {
		for _, m := range gjson.Get(r.Body, "messages").Array() {
			if text := m.Get("content").String(); m.Get("role").Str == "tool" && !slices.Contains(outputs, text) {
				outputs = append(outputs, text)
			}
		}
	}
	return outputs
}

// requestOf returns the first request whose last message ends with a text.
func requestOf(t *testing.T, p apptest.ScriptedModel, text string) apptest.ChatRequest {
	t.Helper()
	for _, r := range p.Requests() {
		messages := gjson.Get(r.Body, "messages").Array()
		if strings.HasSuffix(messages[len(messages)-1].Get("content").String(), text) {
			return r
		}
	}
	require.Fail(t, "no request", text)
	return apptest.ChatRequest{}
}

func TestAgentSettingsDecideWhoStartsAgents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		settings []string
		offered  bool
	}{
		{nil, true},
		{[]string{"agents.enabled=false"}, false},
		{[]string{"agents.max_depth=0"}, false},
		{[]string{"features.multi_agent=false"}, false},
		{[]string{"features.multi_agent=false", "agents.enabled=true"}, false},
	} {
		var args []string
		for _, s := range tt.settings {
			args = append(args, "-c", s)
		}
		p, c, thread := startAgents(t, args...)
		c.Turn(thread, apptest.ScriptText(spawnCall("do it", nil)))
		c.Close()
		request := p.Requests()[0]
		for _, tool := range []string{"spawn_agent", "send_input", "wait_agent", "close_agent", "resume_agent"} {
			require.Equal(t, tt.offered, strings.Contains(request.ToolNames(), tool), "%v: %s", tt.settings, tool)
		}
		if !tt.offered {
			require.Contains(t, outputsOf(p)[0], `There is no tool "spawn_agent"`)
		}
	}
}

func TestAgentsAreBoundByTheConfiguration(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"agents.max_threads=1", "agents.max_concurrent_threads_per_session=1"} {
		p, c, thread := startAgents(t, "-c", limit, "-c", "agents.max_depth=2")
		c.BeginTurn(thread, apptest.ScriptText(spawnCall("first", nil), spawnCall("second", nil)))
		awaitTurns(c, 2)
		c.Close()
		require.Contains(t, outputsOf(p), "collab spawn failed: agent thread limit reached", limit)
		require.Contains(t, requestOf(t, p, "first").ToolNames(), "spawn_agent", "an agent at the depth 1 starts others")
	}
	p, c, thread := startAgents(t, "-c", "agents.max_depth=1")
	c.BeginTurn(thread, apptest.ScriptText(spawnCall("first", nil)))
	awaitTurns(c, 2)
	c.Close()
	require.NotContains(t, requestOf(t, p, "first").ToolNames(), "spawn_agent")
}

func TestAgentsHaveTheConfiguredModelAndEffort(t *testing.T) {
	t.Parallel()
	p, c, thread := startAgents(t, "-c", "agents.default_subagent_model=small",
		"-c", "agents.default_subagent_reasoning_effort=low")
	c.BeginTurn(thread, apptest.ScriptText(spawnCall("by default", nil),
		spawnCall("by the call", apptest.Object{"model": "large", "reasoning_effort": "high"}),
		spawnCall("forked", apptest.Object{"fork_context": true})))
	awaitTurns(c, 4)
	c.Close()
	for message, want := range map[string][2]string{
		"by default": {"small", "low"}, "by the call": {"large", "high"}, "forked": {"test-model", ""},
	} {
		body := requestOf(t, p, message).Body
		if message != "forked" {
			require.Equal(t, want, [2]string{gjson.Get(body, "model").Str, gjson.Get(body, "reasoning_effort").Str}, message)
		}
	}
}

func TestAnAgentIsInterruptedAfterItsTime(t *testing.T) {
	t.Parallel()
	p, c, thread := startAgents(t, "-c", "agents.job_max_runtime_seconds=1")
	c.BeginTurn(thread, apptest.ScriptText(spawnCall(apptest.ScriptText(apptest.ShellCall("sleep 600")), nil)))
	ended := awaitTurns(c, 2)
	require.Equal(t, "completed", ended[thread].Get("status").Str, "the turn of the user has no limit")
	delete(ended, thread)
	for _, turn := range ended {
		require.Equal(t, "interrupted", turn.Get("status").Str)
	}
	c.Turn(thread, "what happened?")
	c.Close()
	require.Contains(t, requestOf(t, p, "what happened?").Body, "after 1 seconds (agents.job_max_runtime_seconds)")
}

func TestNoMessageAboutAnInterruptedTurnIfTheConfigurationSaysSo(t *testing.T) {
	t.Parallel()
	for setting, has := range map[string]bool{"agents.interrupt_message=true": true, "agents.interrupt_message=false": false} {
		p, c, thread := startAgents(t, "-c", setting)
		turn := c.BeginTurn(thread, apptest.ScriptText(apptest.ShellCall("sleep 600")))
		c.Until(func(m apptest.Message) bool {
			return m.Method == "item/started" && gjson.GetBytes(m.Params, "item.type").Str == "commandExecution"
		})
		c.Call("turn/interrupt", apptest.Object{"threadId": thread, "turnId": turn})
		c.AwaitTurn()
		c.Turn(thread, "and now")
		c.Close()
		require.Equal(t, has, strings.Contains(requestOf(t, p, "and now").Body, "turn_aborted"), setting)
	}
}
