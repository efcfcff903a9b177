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

// pathsHome returns a home in which agents have paths.
func pathsHome(t *testing.T, p *apptest.Provider) string {
	t.Helper()
	home := p.Home(t)
	name := filepath.Join(home, "config.toml")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	apptest.WriteConfig(t, home, string(text)+"[features.multi_agent_v2]\nenabled = true\n")
	return home
}

func call(tool string, arguments apptest.Object) apptest.ToolCall {
	return apptest.ToolCall{Tool: tool, Arguments: arguments}
}

func spawn(name, message, turns string) apptest.ToolCall {
	return call("spawn_agent", apptest.Object{"task_name": name, "message": message, "fork_turns": turns})
}

// requestWith returns the last request whose messages have a text.
func requestWith(t *testing.T, p *apptest.Provider, text string) apptest.ChatRequest {
	t.Helper()
	all := p.Requests()
	for i := len(all) - 1; i >= 0; i-- {
		if strings.Contains(string(apptest.JoinRaw(all[i].Messages)), text) {
			return all[i]
		}
	}
	t.Fatalf("no request has %q", text)
	return apptest.ChatRequest{}
}

// requestOfPath returns the last request of an agent with a path.
func requestOfPath(t *testing.T, p *apptest.Provider, path string) apptest.ChatRequest {
	t.Helper()
	return requestWith(t, p, "You are the agent "+path+".")
}

// outputs returns the outputs of the tools in a request.
func outputs(request apptest.ChatRequest) (texts []string) {
	for _, raw := range request.Messages {
		if gjson.GetBytes(raw, "role").Str == "tool" {
			texts = append(texts, gjson.GetBytes(raw, "content").Str)
		}
	}
	return texts
}

// activities returns the activities of agents that clients were notified of as completed items, as "PATH KIND".
func activities(c *apptest.Client) (list []string) {
	for _, m := range c.Notifications("item/completed") {
		item := gjson.GetBytes(m.Params, "item")
		switch item.Get("type").Str {
		case "subAgentActivity":
			list = append(list, item.Get("agentPath").Str+" "+item.Get("kind").Str)
		case "collabAgentToolCall":
			list = append(list, item.Get("tool").Str+" "+item.Get("status").Str)
		}
	}
	return list
}

// TestAgentsWithPaths starts an agent with a path, and waits for its answer.
func TestAgentsWithPaths(t *testing.T) {
	t.Parallel()
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		waits := make(chan struct{})
		p := on.NewRuledModel(t,
			apptest.Rule{Last: "begin now", Calls: []apptest.ToolCall{
				spawn("child_a", "count the files", "none"), spawn("child_a", "again", "none"), spawn("Bad-Name", "x", "none"),
				spawn("child_b", "", "none"), spawn("child_c", "x", "zero"), call("list_agents", apptest.Object{})}},
			apptest.Rule{Has: "count the files", Lacks: "begin now", Until: waits, Text: "there are 7"},
			apptest.Rule{Last: "agent_status", Calls: []apptest.ToolCall{call("wait_agent", apptest.Object{})}})
		home := pathsHome(t, p)
		c := apptest.StartServer(t, home)
		c.Initialize()
		root := c.StartTrusted()
		c.BeginTurn(root, "begin now")
		c.Until(func(m apptest.Message) bool { return strings.Contains(string(m.Params), `"tool":"wait"`) })
		close(waits)
		require.Equal(t, "completed", awaitTurnOf(c, root))

		last := requestWith(t, p, "there are 7")
		require.Equal(t, []string{`{"task_name":"/root/child_a"}`, "agent path `/root/child_a` already exists",
			"agent_name must use only lowercase letters, digits, and underscores", "Empty message can't be sent to an agent",
			"fork_turns must be `none`, `all`, or a positive integer string",
			`{"agents":[{"agent_name":"/root","agent_status":"running"},` +
				`{"agent_name":"/root/child_a","agent_status":"running"}]}`,
			`{"message":"Wait completed.","timed_out":false}`}, outputs(last))
		require.Contains(t, strings.Join(last.Conversation(t), "\n"),
			"user: Message Type: FINAL_ANSWER\nTask name: /root\nSender: /root/child_a\nPayload:\nthere are 7")
		require.Equal(t, []string{"/root/child_a started", "/root/child_a completed", "wait completed"}, activities(c))
		names := last.Body
		require.Contains(t, names, `"followup_task"`)
		require.NotContains(t, names, `"send_input"`)

		of := requestOfPath(t, p, "/root/child_a")
		require.Contains(t, strings.Join(of.Conversation(t), "\n"),
			"Message Type: NEW_TASK\nTask name: /root/child_a\nSender: /root\nPayload:\ncount the files")
		require.Contains(t, string(apptest.JoinRaw(of.Messages)),
			"You are the agent /root/child_a. The agent /root started you.")
		require.NotContains(t, of.Body, `"spawn_agent"`, "agents.max_depth is 1")
		checkPathsStored(t, c, home, root)
		c.Close()
	})
}

// awaitTurnOf awaits the end of a turn of a thread, and returns its status.
func awaitTurnOf(c *apptest.Client, thread string) string {
	m := c.Until(func(m apptest.Message) bool {
		return m.Method == "turn/completed" && gjson.GetBytes(m.Params, "threadId").Str == thread
	})
	return gjson.GetBytes(m.Params, "turn.status").Str
}

// checkPathsStored checks the rollouts of a thread and of its only agent.
func checkPathsStored(t *testing.T, c *apptest.Client, home, root string) {
	t.Helper()
	children := c.CallJSON("thread/list", apptest.Object{"parentThreadId": root}).Get("data")
	require.Len(t, children.Array(), 1)
	child := storedLines(c, children.Get("0.id").Str)
	meta := child[0].Get("payload")
	require.Equal(t, "/root/child_a", meta.Get("agent_path").Str)
	require.Equal(t, "/root/child_a", meta.Get("source.subagent.thread_spawn.agent_path").Str)
	require.Equal(t, "v2", meta.Get("multi_agent_version").Str)
	require.Equal(t, root, meta.Get("session_id").Str)
	var kinds []string
	for i, line := range child {
		if line.Get("type").Str == "response_item" && line.Get("payload.type").Str == "agent_message" {
			kinds = append(kinds, line.Get("payload.content.1.encrypted_content").Str)
			require.Equal(t, "inter_agent_communication_metadata", child[i-1].Get("type").Str)
			require.True(t, child[i-1].Get("payload.trigger_turn").Bool())
		}
	}
	require.Equal(t, []string{"count the files"}, kinds)
	parent := storedLines(c, root)
	require.Equal(t, "v2", parent[0].Get("payload.multi_agent_version").Str)
	for _, line := range parent {
		if line.Get("payload.type").Str == "function_call" {
			require.Equal(t, "collaboration", line.Get("payload.namespace").Str)
		}
	}
}

func storedLines(c *apptest.Client, thread string) (lines []gjson.Result) {
	for line := range strings.Lines(c.StoredLines(thread)) {
		lines = append(lines, gjson.Parse(line))
	}
	return lines
}

// TestAgentsWithPathsGetMessages sends an agent that is done a message and a task, and itself a message, and ends the
// work of another agent.
func TestAgentsWithPathsGetMessages(t *testing.T) {
	t.Parallel()
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		waits := make(chan struct{})
		p := on.NewRuledModel(t,
			apptest.Rule{Last: "begin now", Calls: []apptest.ToolCall{
				spawn("quick", "first task", "none"), spawn("slow", "endless task", "none")}},
			apptest.Rule{Has: "endless task", Lacks: "begin now", Until: make(chan struct{})},
			apptest.Rule{Has: "first task", Lacks: "begin now", Until: waits, Text: "first done"},
			apptest.Rule{Last: "/root/slow", Calls: []apptest.ToolCall{call("wait_agent", apptest.Object{})}},
			apptest.Rule{Last: "FINAL_ANSWER", Calls: []apptest.ToolCall{
				call("send_message", apptest.Object{"target": "quick", "message": "a note"}),
				call("followup_task", apptest.Object{"target": "/root/quick", "message": "second task"}),
				call("interrupt_agent", apptest.Object{"target": "slow"}),
				call("interrupt_agent", apptest.Object{"target": "nope"}),
				call("interrupt_agent", apptest.Object{"target": "/root"}),
				call("send_message", apptest.Object{"target": "/root", "message": "to myself"}),
				call("list_agents", apptest.Object{"path_prefix": "/root/slow"})}},
			apptest.Rule{Has: "second task", Lacks: "begin now", Text: "second done"},
			apptest.Rule{Last: "begin again", Text: "fine"})
		c := apptest.StartServer(t, pathsHome(t, p))
		c.Initialize()
		root := c.StartTrusted()
		c.BeginTurn(root, "begin now")
		c.Until(func(m apptest.Message) bool { return strings.Contains(string(m.Params), `"tool":"wait"`) })
		close(waits)
		for len(c.Notifications("turn/completed")) < 4 { // two of quick, and one of slow
			c.UntilMethod("turn/completed")
		}
		c.BeginTurn(root, "begin again")
		require.Equal(t, "completed", awaitTurnOf(c, root))

		of := requestWith(t, p, "to myself")
		got := outputs(of)
		require.Equal(t, []string{"(no output)", "(no output)", `{"previous_status":"running"}`,
			"live agent path `/root/nope` not found", "root is not a spawned agent", "(no output)"}, got[3:9])
		require.Contains(t, got[9], `"agent_name":"/root/slow"`)
		require.NotContains(t, got[9], "quick")
		again := requestOfPath(t, p, "/root/quick")
		conversation := strings.Join(again.Conversation(t), "\n")
		require.Contains(t, conversation, "Message Type: MESSAGE\nTask name: /root/quick\nSender: /root\nPayload:\na note")
		require.Less(t, strings.Index(conversation, "a note"), strings.Index(conversation, "second task"))
		require.Contains(t, conversation, "first task", "the agent knows its first task")
		sent := strings.Join(requestWith(t, p, "begin again").Conversation(t), "\n")
		require.Contains(t, sent, "Sender: /root/slow\nPayload:\nThe agent was interrupted.")
		require.Contains(t, sent, "Message Type: MESSAGE\nTask name: /root\nSender: /root\nPayload:\nto myself")
		require.Subset(t, activities(c), []string{"/root/quick interacted", "/root/slow interrupted", "/root interacted"})
		c.Close()
	})
}

// TestAgentsWithPathsBeginWithTurns starts agents with all turns of their parent, with the last one, and with none.
func TestAgentsWithPathsBeginWithTurns(t *testing.T) {
	t.Parallel()
	p := apptest.ChatWire.NewRuledModel(t,
		apptest.Rule{Last: "the first", Text: "first answer"},
		apptest.Rule{Last: "the second", Calls: []apptest.ToolCall{
			spawn("all", "task of all", "all"), spawn("one", "task of one", "1"), spawn("none", "task of none", "none"),
			call("wait_agent", apptest.Object{})}})
	c := apptest.StartServer(t, pathsHome(t, p))
	c.Initialize()
	root := c.StartTrusted()
	c.Turn(root, "the first")
	c.BeginTurn(root, "the second")
	for len(c.Notifications("turn/completed")) < 5 { // two of the root, and one of each agent
		c.UntilMethod("turn/completed")
	}
	texts := map[string]string{}
	for _, name := range []string{"all", "one", "none"} {
		for _, r := range p.Requests() {
			if text := strings.Join(r.Conversation(t), "\n"); strings.Contains(text, "Payload:\ntask of "+name) {
				texts[name] = text
				break
			}
		}
		require.NotEmpty(t, texts[name], name)
		require.Contains(t, texts[name], "You are the agent /root/"+name+".")
	}
	require.Contains(t, texts["all"], "the first")
	require.Contains(t, texts["all"], "the second")
	require.NotContains(t, texts["one"], "the first")
	require.Contains(t, texts["one"], "the second")
	require.NotContains(t, texts["none"], "the second")
	c.Close()
}

// TestMultiAgentModeSelectsInstructions starts a thread whose model starts agents unasked, and changes that. The mode
// is kept when the thread is loaded again.
func TestMultiAgentModeSelectsInstructions(t *testing.T) {
	t.Parallel()
	p := apptest.ChatWire.NewRuledModel(t)
	home := pathsHome(t, p)
	c := apptest.StartServer(t, home)
	c.Initialize()
	require.Contains(t, c.CallRejected("thread/start", apptest.Object{"multiAgentMode": "always"}).Message, "always")
	answer := c.CallJSON("thread/start", apptest.Object{"multiAgentMode": "proactive"})
	require.Equal(t, "proactive", answer.Get("multiAgentMode").Str)
	root := answer.Get("thread.id").Str
	c.Turn(root, "one")
	c.Turn(root, "two")
	sent := requestWith(t, p, "two").Body
	require.Equal(t, 1, strings.Count(sent, "Start other agents without being asked"))
	require.NotContains(t, sent, "only if the user asks for agents")
	turn := apptest.Object{"threadId": root, "input": apptest.TextInput("three"),
		"multiAgentMode": apptest.Object{"custom": "Our own rule."}}
	c.Call("turn/start", turn)
	c.AwaitTurn()
	require.Contains(t, requestWith(t, p, "three").Body, "Our own rule.")
	turn["multiAgentMode"] = 7
	c.CallRejected("turn/start", turn)
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	resumed := c.CallJSON("thread/resume", apptest.Object{"threadId": root})
	require.Equal(t, "Our own rule.", resumed.Get("multiAgentMode.custom").Str)
	c.Close()
}

// TestTaskForWorkingAgentContinuesItsTurn gives an agent another task while the model writes its last answer. The turn
// ends after the task.
func TestTaskForWorkingAgentContinuesItsTurn(t *testing.T) {
	t.Parallel()
	sent := make(chan struct{})
	p := apptest.ChatWire.NewRuledModel(t,
		apptest.Rule{Last: "begin now", Calls: []apptest.ToolCall{spawn("worker", "first task", "none")}},
		apptest.Rule{Has: "first task", Lacks: "begin now", Until: sent, Text: "first done"},
		apptest.Rule{Last: "/root/worker", Calls: []apptest.ToolCall{
			call("followup_task", apptest.Object{"target": "worker", "message": "second task"}),
			call("wait_agent", apptest.Object{})}},
		apptest.Rule{Last: "second task", Text: "second done"})
	c := apptest.StartServer(t, pathsHome(t, p))
	c.Initialize()
	root := c.StartTrusted()
	c.BeginTurn(root, "begin now")
	c.Until(func(m apptest.Message) bool { return strings.Contains(string(m.Params), `"tool":"wait"`) })
	close(sent)
	require.Equal(t, "completed", awaitTurnOf(c, root))
	worker := strings.Join(requestOfPath(t, p, "/root/worker").Conversation(t), "\n")
	require.Contains(t, worker, "assistant: first done\nuser: Message Type: NEW_TASK")
	answers := strings.Join(requestOfPath(t, p, "/root").Conversation(t), "\n")
	require.Contains(t, answers, "Payload:\nsecond done")
	require.NotContains(t, answers, "Payload:\nfirst done")
	require.Len(t, c.Notifications("turn/completed"), 2)
	c.Close()
}

// TestInputEndsWaitForAgents sends input to a turn that waits for a message of an agent.
func TestInputEndsWaitForAgents(t *testing.T) {
	t.Parallel()
	p := apptest.ChatWire.NewRuledModel(t,
		apptest.Rule{Last: "begin now", Calls: []apptest.ToolCall{call("wait_agent", apptest.Object{"timeout_ms": 3600000})}})
	c := apptest.StartServer(t, pathsHome(t, p))
	c.Initialize()
	root := c.StartTrusted()
	c.BeginTurn(root, "begin now")
	c.Until(func(m apptest.Message) bool { return strings.Contains(string(m.Params), `"tool":"wait"`) })
	c.BeginTurn(root, "more input")
	require.Equal(t, "completed", awaitTurnOf(c, root))
	require.Equal(t, []string{`{"message":"Wait interrupted by new input.","timed_out":false}`},
		outputs(requestWith(t, p, "more input")))
	require.Equal(t, []string{"wait completed"}, activities(c))
	c.Close()
}

// TestInterruptEndsWaitForAgents interrupts a turn that waits for a message of an agent.
func TestInterruptEndsWaitForAgents(t *testing.T) {
	t.Parallel()
	p := apptest.ChatWire.NewRuledModel(t,
		apptest.Rule{Last: "begin now", Calls: []apptest.ToolCall{call("wait_agent", apptest.Object{"timeout_ms": 3600000})}})
	c := apptest.StartServer(t, pathsHome(t, p))
	c.Initialize()
	root := c.StartTrusted()
	turn := c.BeginTurn(root, "begin now")
	c.Until(func(m apptest.Message) bool { return strings.Contains(string(m.Params), `"tool":"wait"`) })
	c.Call("turn/interrupt", apptest.Object{"threadId": root, "turnId": turn})
	require.Equal(t, "interrupted", awaitTurnOf(c, root))
	require.Equal(t, []string{"wait failed"}, activities(c))
	c.Close()
}

// TestAgentsWithPathsSurviveKill kills the server while an agent works. The next server informs its parent.
func TestAgentsWithPathsSurviveKill(t *testing.T) {
	t.Parallel()
	p := apptest.ChatWire.NewRuledModel(t,
		apptest.Rule{Last: "begin now", Calls: []apptest.ToolCall{
			spawn("quick", "quick task", "none"), spawn("slow", "slow task", "none"), call("wait_agent", apptest.Object{})}},
		apptest.Rule{Has: "slow task", Lacks: "begin now", Until: make(chan struct{})},
		apptest.Rule{Last: "list them", Calls: []apptest.ToolCall{call("list_agents", apptest.Object{}),
			call("followup_task", apptest.Object{"target": "quick", "message": "another task"}),
			call("wait_agent", apptest.Object{})}})
	home := pathsHome(t, p)
	c := apptest.StartServer(t, home)
	c.Initialize()
	root := c.StartTrusted()
	c.BeginTurn(root, "begin now")
	require.Equal(t, "completed", awaitTurnOf(c, root))
	c.Kill()

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": root})
	c.SeenOrUntil(func(m apptest.Message) bool {
		return strings.Contains(string(m.Params), "/root/slow → The agent was interrupted.")
	})
	c.BeginTurn(root, "list them")
	require.Equal(t, "completed", awaitTurnOf(c, root))
	got := outputs(requestWith(t, p, "another task"))
	require.Contains(t, strings.Join(got, "\n"), `{"agent_name":"/root/quick","agent_status":{"completed":"done"}},`+
		`{"agent_name":"/root/slow","agent_status":"interrupted"}`)
	require.Contains(t, strings.Join(requestOfPath(t, p, "/root/quick").Conversation(t), "\n"), "quick task")
	c.Close()
}
