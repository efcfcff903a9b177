//go:build reference

package interchange

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestReferenceContinuesAgentsWithPaths starts an agent with this server. The reference implementation lists the agent,
// and sends its model the calls and the messages between agents as its own.
func TestReferenceContinuesAgentsWithPaths(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesExchange)
	t.Parallel()
	p := apptest.ResponsesWire.NewRuledModel(t,
		apptest.Rule{Last: "begin now", Calls: []apptest.ToolCall{
			{Tool: "spawn_agent", Arguments: apptest.Object{"task_name": "child", "message": "a task", "fork_turns": "none"}},
			{Tool: "wait_agent", Arguments: apptest.Object{}}}},
		apptest.Rule{Has: "a task", Lacks: "begin now", Text: "the answer"})
	home, project := t.TempDir(), t.TempDir()
	apptest.WriteConfig(t, home, fmt.Sprintf(`model = "test"
model_provider = "test"
sandbox_mode = "danger-full-access"
approval_policy = "never"
[model_providers.test]
name = "test"
base_url = %q
wire_api = "responses"
[features.multi_agent_v2]
enabled = true
`, p.Server.URL+"/v1"))
	c := apptest.StartServer(t, home)
	c.Initialize()
	root := c.StartThread(apptest.Object{"cwd": project})
	c.BeginTurn(root, "begin now")
	for len(c.Notifications("turn/completed")) < 2 { // of the agent and of its parent
		c.UntilMethod("turn/completed")
	}
	c.Close()

	c = startReference(t, home)
	c.Initialize()
	children := c.CallJSON("thread/list", apptest.Object{"parentThreadId": root, "modelProviders": []string{}}).Get("data")
	require.Len(t, children.Array(), 1)
	child := children.Get("0.id").Str
	c.Call("thread/resume", apptest.Object{"threadId": root})
	c.Call("thread/resume", apptest.Object{"threadId": child})
	refused := c.CallRejected("turn/start", apptest.Object{"threadId": child, "input": apptest.TextInput("hello")})
	require.Contains(t, refused.Message, "multi-agent v2 sub-agents", "the agent is one of its own")
	c.Turn(root, "go on")
	c.Close()
	requests := p.Requests()
	last := requests[len(requests)-1].Body
	require.Contains(t, last, "go on")
	require.Equal(t, "collaboration", gjson.Get(last, `input.#(name=="spawn_agent").namespace`).Str)
	answer := gjson.Get(last, `input.#(type=="agent_message")`)
	require.Equal(t, "/root/child", answer.Get("author").Str)
	require.Contains(t, answer.Get("content.0.text").Str, "the answer")
}
