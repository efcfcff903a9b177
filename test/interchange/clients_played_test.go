package interchange

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// A playedClient replaces a client that cannot be installed here. It sends the requests and answers
// of that client in their order, and requires the members that the client requires. docs/clients.md
// names the clients and the sources.

// demanded are the required members, by method of the request or notification. Without them a
// strict client drops a message or fails. A name with [] is a list.
var demanded = map[string][]string{
	"initialize":   {"codexHome", "platformFamily", "platformOs", "userAgent"},
	"account/read": {"requiresOpenaiAuth"},
	"skills/list":  {"data"},
	"model/list": {"data[].id", "data[].model", "data[].displayName", "data[].description",
		"data[].hidden", "data[].isDefault", "data[].defaultReasoningEffort", "data[].supportedReasoningEfforts"},
	"thread/start":     startDemands,
	"thread/resume":    startDemands,
	"thread/fork":      startDemands,
	"thread/read":      threadDemands,
	"thread/rollback":  threadDemands,
	"thread/unarchive": threadDemands,
	"thread/list": {"data[].id", "data[].sessionId", "data[].cwd", "data[].preview",
		"data[].source", "data[].status", "data[].updatedAt"},
	"turn/start":                            turnDemands,
	"thread/started":                        threadDemands,
	"thread/status/changed":                 {"threadId", "status.type"},
	"turn/started":                          turnDemands,
	"turn/completed":                        turnDemands,
	"item/started":                          {"threadId", "turnId", "startedAtMs", "item.id", "item.type"},
	"item/completed":                        {"threadId", "turnId", "completedAtMs", "item.id", "item.type"},
	"item/agentMessage/delta":               deltaDemands,
	"item/commandExecution/outputDelta":     deltaDemands,
	"item/commandExecution/requestApproval": {"threadId", "turnId", "itemId", "startedAtMs", "command"},
	"serverRequest/resolved":                {"threadId", "requestId"},
	"thread/tokenUsage/updated": {"threadId", "turnId", "tokenUsage.total.totalTokens",
		"tokenUsage.last.totalTokens", "tokenUsage.last.cachedInputTokens", "tokenUsage.last.reasoningOutputTokens"},
	"error": {"threadId", "turnId", "willRetry", "error.message"},
}

var (
	threadDemands = []string{"thread.id", "thread.sessionId", "thread.cliVersion", "thread.createdAt", "thread.cwd",
		"thread.ephemeral", "thread.modelProvider", "thread.preview", "thread.source", "thread.status", "thread.turns",
		"thread.updatedAt"}
	startDemands = append([]string{"approvalPolicy", "approvalsReviewer", "cwd", "model", "modelProvider", "sandbox"},
		threadDemands...)
	turnDemands  = []string{"turn.id", "turn.items", "turn.status"}
	deltaDemands = []string{"threadId", "turnId", "itemId", "delta"}
)

// playedClient is a client of the server.
type playedClient struct {
	*apptest.Client
	t       *testing.T
	named   bool // its ids are strings
	checked int
}

// call sends a request, and requires success with all demanded members.
func (p *playedClient) call(method string, params any) gjson.Result {
	p.t.Helper()
	p.LastID++
	var id any = p.LastID
	if p.named {
		id = fmt.Sprintf("00000000-0000-4000-8000-%012d", p.LastID)
	}
	m := apptest.Object{"id": id, "method": method}
	if params != nil {
		m["params"] = params
	}
	p.Send(m)
	want, err := json.Marshal(id)
	require.NoError(p.t, err)
	answer := p.UntilResponse(string(want))
	require.Nil(p.t, answer.Error, "%s: %s", method, answer.Line)
	p.demand(method, answer.Result)
	return gjson.ParseBytes(answer.Result)
}

func (p *playedClient) demand(method string, content []byte) {
	p.t.Helper()
	for _, member := range demanded[method] {
		p.checked++
		list, name, isList := strings.Cut(member, "[].")
		values := []gjson.Result{gjson.ParseBytes(content)}
		if isList {
			values = gjson.GetBytes(content, list).Array()
		} else {
			name = member
		}
		for _, value := range values {
			require.True(p.t, value.Get(name).Exists(), "%s lacks %s: %s", method, member, content)
		}
	}
}

// end closes the input, and checks all messages for demanded members.
func (p *playedClient) end() {
	p.t.Helper()
	p.Close()
	for _, m := range p.Seen {
		members := map[string]json.RawMessage{}
		require.NoError(p.t, json.Unmarshal([]byte(m.Line), &members), m.Line)
		require.NotEqual(p.t, "null", string(members["error"]), "closes the connection: %s", m.Line)
		require.NotEqual(p.t, "null", string(members["id"]), "closes the connection: %s", m.Line)
		require.True(p.t, members["method"] != nil || members["id"] != nil, "closes the connection: %s", m.Line)
		if m.Method != "" {
			p.demand(m.Method, m.Params)
		}
	}
	require.NotZero(p.t, p.checked)
}

// t3code starts a session as T3 Code's runtime does, in the mode with an approval for each command.
func t3code(t *testing.T, home string) *playedClient {
	t.Helper()
	p := &playedClient{Client: apptest.StartServer(t, home, "app-server"), t: t}
	p.call("initialize", apptest.Object{
		"clientInfo":   apptest.Object{"name": "t3code_desktop", "title": "T3 Code Desktop", "version": "0.1.0"},
		"capabilities": apptest.Object{"experimentalApi": true},
	})
	p.Send(apptest.Object{"method": "initialized"})
	return p
}

// t3codeThread returns the members of thread/start and thread/resume in that mode.
func t3codeThread(project string) apptest.Object {
	return apptest.Object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "read-only",
		"approvalsReviewer": "user", "model": "offline"}
}

// t3codeTurn runs a turn, and returns its status and the number of approval requests.
func (p *playedClient) t3codeTurn(thread, prompt, decision string) (status string, approvals int) {
	p.t.Helper()
	p.OnRequest = func(m apptest.Message) any {
		require.Equal(p.t, "item/commandExecution/requestApproval", m.Method)
		approvals++
		return apptest.Object{"decision": decision}
	}
	p.call("turn/start", apptest.Object{
		"threadId": thread, "input": apptest.TextInput(prompt), "model": "offline", "effort": "medium",
		"approvalPolicy": "untrusted", "approvalsReviewer": "user", "sandboxPolicy": apptest.Object{"type": "readOnly"},
		"collaborationMode": apptest.Object{"mode": "default", "settings": apptest.Object{
			"model": "offline", "reasoning_effort": "medium", "developer_instructions": "You are in default mode.",
		}},
	})
	return p.AwaitTurn().Status, approvals
}

// t3codeProbe sends the requests by which T3 Code checks whether the server can be used.
func t3codeProbe(t *testing.T, home, project string) {
	t.Helper()
	p := t3code(t, home)
	account := p.call("account/read", apptest.Object{})
	require.False(t, account.Get("requiresOpenaiAuth").Bool())
	p.call("skills/list", apptest.Object{"cwds": []string{project}})
	p.call("model/list", apptest.Object{})
	p.end()
}

func TestClientT3CodeGetsOneApprovalPerCommand(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	apptest.WriteConfig(t, home, "model = \"offline\"\nmodel_provider = \"offline\"\n")
	t3codeProbe(t, home, project)

	p := t3code(t, home)
	thread := p.call("thread/start", t3codeThread(project)).Get("thread.id").Str
	status, approvals := p.t3codeTurn(thread, "run: echo made > accepted", "accept")
	require.Equal(t, "completed", status)
	require.Equal(t, 1, approvals, "the client does not answer a second request for one command")
	require.FileExists(t, filepath.Join(project, "accepted"))
	status, approvals = p.t3codeTurn(thread, "run: echo made > declined", "decline")
	require.Equal(t, "completed", status)
	require.Equal(t, 1, approvals)
	require.NoFileExists(t, filepath.Join(project, "declined"))
	p.end()

	p = t3code(t, home)
	resume := t3codeThread(project)
	resume["threadId"] = thread
	p.call("thread/resume", resume)
	status, approvals = p.t3codeTurn(thread, "run: echo again > resumed", "acceptForSession")
	require.Equal(t, "completed", status)
	require.Equal(t, 1, approvals)
	require.FileExists(t, filepath.Join(project, "resumed"))
	require.Len(t, p.call("thread/read",
		apptest.Object{"threadId": thread, "includeTurns": true}).Get("thread.turns").Array(), 3)
	p.call("thread/rollback", apptest.Object{"threadId": thread, "numTurns": 1})
	resume["threadId"] = "01990000-0000-7000-8000-000000000000"
	require.Regexp(t, "thread", p.CallRejected("thread/resume", resume).Message, "the client starts another thread for this word")
	p.end()
}

// pythonSDK connects as the Python SDK of the reference implementation does.
func pythonSDK(t *testing.T, home string) *playedClient {
	t.Helper()
	p := &playedClient{Client: apptest.StartServer(t, home, "--config", "model_provider=offline", "app-server", "--listen",
		"stdio://"), t: t, named: true}
	p.call("initialize", apptest.Object{
		"clientInfo":   apptest.Object{"name": "codex_python_sdk", "title": "Codex Python SDK", "version": "0.1.0"},
		"capabilities": apptest.Object{"experimentalApi": true},
	})
	p.Send(apptest.Object{"method": "initialized"})
	return p
}

func (p *playedClient) pythonTurn(thread, text string) {
	p.t.Helper()
	p.call("turn/start", apptest.Object{"threadId": thread, "input": apptest.TextInput(text)})
	require.Equal(p.t, "completed", p.AwaitTurn().Status)
}

// TestClientPythonSDKCompactsThenArchives archives while the summary is generated.
func TestClientPythonSDKCompactsThenArchives(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	apptest.WriteConfig(t, home,
		"model = \"offline\"\nmodel_provider = \"offline\"\n[model_providers.offline]\nscript = \"script.json\"\n")
	require.NoError(t, os.WriteFile(filepath.Join(home, "script.json"),
		[]byte(`{"steps":[{"match":"slow words","text":"Slow words."},{"match":"slow words","text":"Too late.","delayMs":20000}]}`), 0o600))
	p := pythonSDK(t, home)
	settings := apptest.Object{"approvalPolicy": "on-request", "approvalsReviewer": "auto_review", "cwd": t.TempDir()}
	for _, words := range []string{"slow words", "quick words", "quick words", "quick words"} {
		thread := p.call("thread/start", settings).Get("thread.id").Str
		p.pythonTurn(thread, words)
		p.call("thread/compact/start", apptest.Object{"threadId": thread})
		p.call("thread/archive", apptest.Object{"threadId": thread})
		archived := p.call("thread/list", apptest.Object{"limit": 20, "archived": true}).Get("data.#.id").String()
		require.Contains(t, archived, thread)
		require.Equal(t, thread, p.call("thread/unarchive", apptest.Object{"threadId": thread}).Get("thread.id").Str)
		p.call("thread/resume", apptest.Object{"threadId": thread})
		p.pythonTurn(thread, "and on")
		p.call("thread/name/set", apptest.Object{"threadId": thread, "name": "sdk-lifecycle-demo"})
		p.call("thread/fork", apptest.Object{"threadId": thread})
	}
	p.end()
}
