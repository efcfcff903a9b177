package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// outputsAbout returns the outputs of the tools in the last request whose messages contain a text.
func outputsAbout(m apptest.ScriptedModel, text string) (outputs []string) {
	for _, r := range m.Requests() {
		if !strings.Contains(r.Body, text) {
			continue
		}
		outputs = nil
		for _, o := range gjson.Get(r.Body, `messages.#(role=="tool")#.content`).Array() {
			outputs = append(outputs, o.Str)
		}
	}
	return outputs
}

// agentCalls returns the final items of calls about agents that a client was notified of.
func agentCalls(seen []apptest.Message) (items []gjson.Result) {
	for _, m := range seen {
		item := gjson.GetBytes(m.Params, "item")
		if m.Method == "item/completed" && item.Get("type").Str == "collabAgentToolCall" {
			items = append(items, item)
		}
	}
	return items
}

// TestAgentsWorkAndReport starts an agent, waits for it, gives it more work, and closes it. The agent is a thread of
// its own, which the client of its parent follows. Its results are in the context of the parent.
func TestAgentsWorkAndReport(t *testing.T) {
	t.Parallel()
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		c, m := apptest.StartScriptedOn(t, on)
		id := c.StartTrusted()
		first := apptest.Agent(0)
		c.BeginTurn(id, apptest.ScriptText(
			apptest.SpawnCall(apptest.ScriptText(apptest.ShellCall("echo from the agent")), nil),
			apptest.AwaitCall(first),
			apptest.OneCall("send_input", apptest.Object{"target": first, "message": "one more"}),
			apptest.AwaitCall(first),
			apptest.OneCall("close_agent", apptest.Object{"target": first}),
			apptest.OneCall("send_input", apptest.Object{"target": first, "message": "closed"}),
		))
		require.Equal(t, "completed", c.AwaitTurnOf(id))
		children := c.Children(id)
		require.Len(t, children, 1)
		child := children[0]
		outputs := parentOutputs(m)
		require.Len(t, outputs, 6)
		require.Equal(t, child, gjson.Get(outputs[0], "agent_id").Str)
		require.NotEmpty(t, gjson.Get(outputs[0], "nickname").Str)
		done := `{"status":{"` + child + `":{"completed":"done"}},"timed_out":false}`
		require.Equal(t, []string{done, done}, []string{outputs[1], outputs[3]})
		require.Equal(t, `{"previous_status":{"completed":"done"}}`, outputs[4])
		require.Equal(t, "agent with id "+child+" not found", outputs[5])

		var calls []string
		for _, item := range agentCalls(c.Seen) {
			calls = append(calls, item.Get("tool").Str+" "+item.Get("status").Str+" "+
				item.Get("agentsStates."+child+".status").Str)
			require.Equal(t, id, item.Get("senderThreadId").Str)
		}
		require.Equal(t, []string{"spawnAgent completed pendingInit", "wait completed completed",
			"sendInput completed completed", "wait completed completed", "closeAgent completed completed",
			"sendInput failed notFound"}, calls)

		result := "Result of " + gjson.Get(outputs[0], "nickname").Str + ": done\n"
		require.Equal(t, 2, strings.Count(previews(c, id), result))
		require.NotContains(t, previews(c, id), "from the agent\n")
		require.Contains(t, previews(c, child), "from the agent\n")
		view := gjson.ParseBytes(c.Call("thread/read", apptest.Object{"threadId": child})).Get("thread")
		require.Equal(t, id, view.Get("parentThreadId").Str)
		require.Equal(t, id, view.Get("source.subAgent.thread_spawn.parent_thread_id").Str)
		require.Equal(t, gjson.Get(outputs[0], "nickname").Str, view.Get("agentNickname").Str)
		require.Len(t, c.ReadThread(child).Turns, 2)
		require.NotContains(t, string(c.Call("thread/list", apptest.Object{})), child, "a list of the user's threads")
	})
}

// TestForkedAgentsBeginWithTheRequestOfTheirParent compares the first request of a forked agent with the one that
// started it: it is the same, and one message follows.
func TestForkedAgentsBeginWithTheRequestOfTheirParent(t *testing.T) {
	t.Parallel()
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		c, m := apptest.StartScriptedOn(t, on)
		id := c.StartTrusted()
		c.Turn(id, "remember the word anemone")
		c.BeginTurn(id, apptest.ScriptText(apptest.ShellCall("echo read"),
			apptest.SpawnCall("[]", apptest.Object{"fork_context": true}), apptest.AwaitCall(apptest.Agent(0))))
		require.Equal(t, "completed", c.AwaitTurnOf(id))
		var before, first string
		for _, r := range m.Requests() {
			messages := gjson.Get(r.Body, "messages").Array()
			last := messages[len(messages)-1]
			switch {
			case last.Get("role").Str == "user" && last.Get("content").Str == "[]":
				first = r.Body
			case last.Get("role").Str == "tool" && !strings.Contains(last.Raw, "agent_id") && before == "":
				before = r.Body
			}
		}
		parent, child := gjson.Get(before, "messages").Array(), gjson.Get(first, "messages").Array()
		require.Greater(t, len(parent), 4)
		require.Len(t, child, len(parent)+1)
		for i := range parent {
			require.Equal(t, parent[i].Raw, child[i].Raw)
		}
		require.Equal(t, gjson.Get(before, "tools").Raw, gjson.Get(first, "tools").Raw)
	})
}

// TestAgentsBeginWithChosenItems starts agents with the last turn, and with the messages of the user. A call and its
// output stay together. An id of no item is refused in words.
func TestAgentsBeginWithChosenItems(t *testing.T) {
	t.Parallel()
	c, m := apptest.StartScripted(t)
	id := c.StartTrusted()
	c.Turn(id, "the first word is anemone")
	c.RunScript(id, apptest.ShellCall("echo the second is briar"))
	spawn := func(task string, chosen apptest.Object) []apptest.ToolCall {
		return apptest.SpawnCall(task, apptest.Object{"context_items": chosen})
	}
	c.BeginTurn(id, apptest.ScriptText(spawn("task one", apptest.Object{"last_turns": 2}),
		spawn("task two", apptest.Object{"categories": []string{"assistantMessage"}}),
		spawn("task three", apptest.Object{"ids": []string{"r9999"}}), apptest.AwaitCall(apptest.Agent(0)),
		apptest.AwaitCall(apptest.Agent(1))))
	require.Equal(t, "completed", c.AwaitTurnOf(id))
	requests := map[string]string{}
	for _, r := range m.Requests() {
		messages := gjson.Get(r.Body, "messages").Array()
		if last := messages[len(messages)-1].Get("content").Str; strings.HasSuffix(last, "task one") ||
			strings.HasSuffix(last, "task two") {
			requests[last[len(last)-8:]] = r.Body
		}
	}
	require.Contains(t, requests["task one"], "the second is briar")
	require.NotContains(t, requests["task one"], "anemone")
	require.Contains(t, requests["task one"], `"tool_call_id"`)
	require.NotContains(t, requests["task two"], "briar")
	require.Contains(t, requests["task two"], `"done"`)
	require.Contains(t, strings.Join(parentOutputs(m), "\n"), "there is no item r9999 in the conversation")
	require.Len(t, c.Children(id), 2)
}

// TestAgentsAreBounded starts more agents than the configuration permits, in number and in depth. They are refused in
// words, and the turn continues.
func TestAgentsAreBounded(t *testing.T) {
	t.Parallel()
	c, m := apptest.StartScripted(t, "-c", "agents.max_threads=2")
	id := c.StartTrusted()
	deeper := apptest.ScriptText(apptest.SpawnCall("deeper", nil))
	c.BeginTurn(id, apptest.ScriptText(apptest.SpawnCall(deeper, nil), apptest.SpawnCall("second", nil),
		apptest.SpawnCall("third", nil), apptest.OneCall("close_agent", apptest.Object{"target": apptest.Agent(1)}),
		apptest.SpawnCall("fourth", nil), apptest.AwaitCall(apptest.Agent(0))))
	require.Equal(t, "completed", c.AwaitTurnOf(id))
	outputs := parentOutputs(m)
	require.Equal(t, "collab spawn failed: agent thread limit reached", outputs[2])
	require.Contains(t, outputs[4], "agent_id")
	require.Contains(t, strings.Join(outputsAbout(m, "no tool"), "\n"), `There is no tool "spawn_agent"`, "too deep")
	require.Len(t, c.Children(id), 3)
}

// TestAgentsAreOff does not offer the tools, and runs no call of them.
func TestAgentsAreOff(t *testing.T) {
	t.Parallel()
	c, m := apptest.StartScripted(t, "-c", "features.multi_agent=false")
	id := c.StartTrusted()
	c.RunScript(id, apptest.SpawnCall("a task", nil))
	require.NotContains(t, gjson.Get(m.Requests()[0].Body, "tools").Raw, "spawn_agent")
	require.Contains(t, m.LastOutput(), `There is no tool "spawn_agent"`)
	require.Empty(t, c.Children(id))
}

// TestAgentsOfAKilledServerAreSettled kills a server while an agent works and another one is done. The next server
// tells the parent that the first one was interrupted, and both get more work.
func TestAgentsOfAKilledServerAreSettled(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	m := apptest.NewScriptedModel(t)
	home := m.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	id, tree := c.StartTrusted(), apptest.NewProcessTree()
	c.BeginTurn(id, apptest.ScriptText(apptest.SpawnCall("first", nil), apptest.AwaitCall(apptest.Agent(0)),
		apptest.SpawnCall(apptest.ScriptText(apptest.ShellCall(tree.Script())), nil)))
	require.Equal(t, "completed", c.AwaitTurnOf(id))
	children := c.Children(id)
	require.Len(t, children, 2)
	c.SeenOrUntil(func(m apptest.Message) bool {
		return m.Method == "item/started" && gjson.GetBytes(m.Params, "item.type").Str == "commandExecution"
	})
	c.Kill()
	require.Eventually(t, func() bool { return len(tree.Alive(t)) == 0 }, time.Minute, 10*time.Millisecond)

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	c.SeenOrUntil(func(msg apptest.Message) bool {
		return msg.Method == "ContextItems" && strings.Contains(string(msg.Params), "interrupted")
	})
	c.BeginTurn(id, apptest.ScriptText(
		apptest.OneCall("send_input", apptest.Object{"target": children[0], "message": "more"}),
		apptest.OneCall("send_input", apptest.Object{"target": children[1], "message": "[]"}),
		apptest.AwaitCall(children[0]), apptest.AwaitCall(children[1])))
	require.Equal(t, "completed", c.AwaitTurnOf(id))
	outputs := parentOutputs(m)
	for i, child := range children {
		require.Contains(t, outputs[len(outputs)-2+i], `"`+child+`":{"completed":"done"}`)
	}
}

// parentOutputs returns the outputs of tools in the request of a thread that has most of them. Its agents can send
// requests at the same time, which do not offer to start agents.
func parentOutputs(m apptest.ScriptedModel) (most []string) {
	for _, r := range m.Requests() {
		if tools := gjson.Get(r.Body, "tools").Raw; tools != "" && !strings.Contains(tools, `"spawn_agent"`) {
			continue
		}
		var outputs []string
		for _, output := range gjson.Get(r.Body, `messages.#(role=="tool")#.content`).Array() {
			outputs = append(outputs, output.Str)
		}
		if len(outputs) > len(most) {
			most = outputs
		}
	}
	return most
}

// previews returns the previews of the context of a thread, a line for each item.
func previews(c *apptest.Client, thread string) string {
	var all strings.Builder
	for _, item := range c.ContextList(thread).Items {
		all.WriteString(item.Preview + "\n")
	}
	return all.String()
}
