package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// untilRunning awaits the start of n commands, and returns the threads that run them.
func untilRunning(c *apptest.Client, n int) (threads []string) {
	c.Until(func(m apptest.Message) bool {
		if m.Method == "item/started" && gjson.GetBytes(m.Params, "item.type").Str == "commandExecution" {
			threads = append(threads, gjson.GetBytes(m.Params, "threadId").Str)
		}
		return len(threads) == n
	})
	return threads
}

// idsBelow returns the ids of the agents of a thread, and of theirs.
func idsBelow(c *apptest.Client, thread string, archived bool) (ids []string) {
	list := c.Call("thread/list", apptest.Object{"ancestorThreadId": thread, "archived": archived})
	for _, shown := range gjson.GetBytes(list, "data").Array() {
		ids = append(ids, shown.Get("id").Str)
	}
	slices.Sort(ids)
	return ids
}

// untilNotices awaits notifications with a method about threads.
func untilNotices(c *apptest.Client, method string, threads []string) {
	for {
		got := noticesOf(c, method)
		if !slices.ContainsFunc(threads, func(id string) bool { return !slices.Contains(got, id) }) {
			return
		}
		c.UntilMethod(method)
	}
}

// noticesOf returns the threads of notifications with a method, sorted.
func noticesOf(c *apptest.Client, method string) (threads []string) {
	for _, m := range c.Seen {
		if m.Method == method {
			threads = append(threads, gjson.GetBytes(m.Params, "threadId").Str)
		}
	}
	slices.Sort(threads)
	return threads
}

// startTree starts a thread whose agent has started another one. Both agents run a command without an end.
func startTree(t *testing.T, c *apptest.Client) (thread string, agents []string) {
	t.Helper()
	endless := apptest.ShellCall("sleep 600")
	thread = c.StartTrusted()
	c.BeginTurn(thread, apptest.ScriptText(
		spawnCall(apptest.ScriptText(spawnCall(apptest.ScriptText(endless), nil), endless), nil)))
	agents = untilRunning(c, 2)
	slices.Sort(agents)
	require.Equal(t, agents, idsBelow(c, thread, false))
	return thread, agents
}

func TestAgentsFollowTheirThreadIntoTheArchiveAndBack(t *testing.T) {
	t.Parallel()
	p := apptest.NewScriptedModel(t)
	home := p.Home(t)
	c := apptest.StartServer(t, home, "-c", "agents.max_depth=2")
	c.Initialize()
	thread, agents := startTree(t, c)
	all := append([]string{thread}, agents...)
	slices.Sort(all)

	c.Call("thread/archive", apptest.Object{"threadId": thread})
	require.Empty(t, idsBelow(c, thread, false))
	require.Equal(t, agents, idsBelow(c, thread, true))
	untilNotices(c, "thread/archived", all)
	ended := noticesOf(c, "turn/completed")
	require.Subset(t, ended, agents, "archiving ends what agents do")

	c.Call("thread/unarchive", apptest.Object{"threadId": thread})
	require.Equal(t, agents, idsBelow(c, thread, false))
	require.Empty(t, idsBelow(c, thread, true))
	untilNotices(c, "thread/unarchived", all)
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/archive", apptest.Object{"threadId": thread})
	require.Equal(t, agents, idsBelow(c, thread, true), "threads that are not loaded follow as well")
	c.Call("thread/unarchive", apptest.Object{"threadId": agents[0]})
	c.Call("thread/archive", apptest.Object{"threadId": agents[0]})
	require.Equal(t, agents, idsBelow(c, thread, true), "an agent can be archived alone")
	c.Call("thread/delete", apptest.Object{"threadId": thread})
	untilNotices(c, "thread/deleted", all)
	require.Empty(t, idsBelow(c, thread, true))
	for _, id := range all {
		c.CallRejected("thread/read", apptest.Object{"threadId": id})
	}
	c.Close()
}

func TestDeletingAThreadDeletesItsWorkingAgents(t *testing.T) {
	t.Parallel()
	p := apptest.NewScriptedModel(t)
	c := apptest.StartServer(t, p.Home(t), "-c", "agents.max_depth=2")
	c.Initialize()
	thread, agents := startTree(t, c)
	c.Call("thread/delete", apptest.Object{"threadId": thread})
	untilNotices(c, "thread/deleted", append([]string{thread}, agents...))
	require.Subset(t, noticesOf(c, "turn/completed"), agents)
	require.Empty(t, idsBelow(c, thread, false))
	c.Close()
}

func TestInterruptingAThreadInterruptsItsAgents(t *testing.T) {
	t.Parallel()
	p := apptest.NewScriptedModel(t)
	c := apptest.StartServer(t, p.Home(t), "-c", "agents.max_depth=2")
	c.Initialize()
	endless := apptest.ShellCall("sleep 600")
	thread := c.StartTrusted()
	turn := c.BeginTurn(thread, apptest.ScriptText(
		spawnCall(apptest.ScriptText(spawnCall(apptest.ScriptText(endless), nil), endless), nil), endless))
	untilRunning(c, 3)
	c.Call("turn/interrupt", apptest.Object{"threadId": thread, "turnId": turn})
	ended := awaitTurns(c, 3)
	for id, turn := range ended {
		require.Equal(t, "interrupted", turn.Get("status").Str, id)
	}
	c.Close()
}

// TestForksHaveNoAgents forks a thread with an agent, and the agent.
func TestForksHaveNoAgents(t *testing.T) {
	t.Parallel()
	p := apptest.NewScriptedModel(t)
	home := p.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartTrusted()
	c.BeginTurn(thread, apptest.ScriptText(spawnCall("task", nil)))
	awaitTurns(c, 2)
	child := childOf(t, c, thread).Get("id").Str
	fork := c.CallThread("thread/fork", apptest.Object{"threadId": thread}).ID
	c.Turn(fork, "remember") // a fork without a turn of its own is the same
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": fork})
	require.Empty(t, idsBelow(c, fork, false))
	c.Turn(fork, apptest.ScriptText(apptest.OneCall("send_input", apptest.Object{"target": child, "message": "hello"})))
	require.Contains(t, outputsOf(p), "agent with id "+child+" not found")

	ofChild := gjson.ParseBytes(c.Call("thread/fork", apptest.Object{"threadId": child})).Get("thread")
	require.Equal(t, "null", ofChild.Get("parentThreadId").Raw)
	require.Equal(t, ofChild.Get("id").Str, ofChild.Get("sessionId").Str)
	c.Turn(ofChild.Get("id").Str, "as a thread")
	require.Contains(t, requestOf(t, p, "as a thread").Body, `"spawn_agent"`)
	require.Len(t, idsBelow(c, thread, false), 1)
	c.Close()
}

// TestClientsOfAThreadDecideForItsAgents asks about a command of an agent: first the client that started the thread,
// then one that resumes the thread while the question is open.
func TestClientsOfAThreadDecideForItsAgents(t *testing.T) {
	t.Parallel()
	p := apptest.NewScriptedModel(t)
	home, work := apptest.ShortDir(t), t.TempDir()
	p.Configure(t, home)
	listen := "unix://" + apptest.ShortDir(t) + "/s"
	d := apptest.LaunchDaemon(t, apptest.ServerCommand(t, home, "app-server", "--listen", listen), home)
	first := d.ConnectInitialized()
	thread := first.StartThread(apptest.Object{"cwd": work, "approvalPolicy": "untrusted", "sandbox": "workspace-write"})
	first.BeginTurn(thread, apptest.ScriptText(spawnCall(apptest.ScriptText(apptest.ShellCall("touch made")), nil)))
	asked := first.UntilMethod("item/commandExecution/requestApproval")
	child := gjson.GetBytes(asked.Params, "threadId").Str
	require.NotEqual(t, thread, child)

	second := d.ConnectInitialized()
	second.Call("thread/resume", apptest.Object{"threadId": thread})
	again := second.UntilMethod("item/commandExecution/requestApproval")
	require.JSONEq(t, string(asked.Params), string(again.Params))
	second.Send(apptest.Object{"id": again.ID, "result": apptest.Object{"decision": "accept"}})
	for _, c := range []*apptest.WebSocketClient{first, second} {
		c.Until(func(m apptest.Message) bool {
			return m.Method == "turn/completed" && gjson.GetBytes(m.Params, "threadId").Str == child
		})
	}
	require.FileExists(t, filepath.Join(work, "made"))
}

func TestAClientThatLeavesAThreadLeavesItsAgents(t *testing.T) {
	t.Parallel()
	p := apptest.NewScriptedModel(t)
	home, work := apptest.ShortDir(t), t.TempDir()
	p.Configure(t, home)
	listen := "unix://" + apptest.ShortDir(t) + "/s"
	d := apptest.LaunchDaemon(t, apptest.ServerCommand(t, home, "app-server", "--listen", listen), home)
	first := d.ConnectInitialized()
	thread := first.StartThread(apptest.Object{"cwd": work, "approvalPolicy": "never", "sandbox": "danger-full-access"})
	first.BeginTurn(thread, apptest.ScriptText(
		spawnCall(apptest.ScriptText(apptest.ShellCall("until [ -e go ]; do sleep 0.05; done")), nil)))
	child := untilRunning(first.Client, 1)[0]
	second := d.ConnectInitialized()
	second.Call("thread/resume", apptest.Object{"threadId": thread})

	first.Call("thread/unsubscribe", apptest.Object{"threadId": thread})
	first.Call("thread/read", apptest.Object{"threadId": child}) // the agent has served what came before
	require.NoError(t, os.WriteFile(filepath.Join(work, "go"), nil, 0o600))
	second.Until(func(m apptest.Message) bool {
		return m.Method == "turn/completed" && gjson.GetBytes(m.Params, "threadId").Str == child
	})
	first.Call("thread/loaded/list", apptest.Object{})
	require.NotContains(t, noticesOf(first.Client, "turn/completed"), child)
}
