package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// prefixRig is a thread whose requests must each begin with the one before.
type prefixRig struct {
	*apptest.Client
	t            *testing.T
	provider     *apptest.Provider
	on           apptest.WireAPI
	home, cwd    string
	thread, last string
	flags        []string
}

// TestPromptKeepsPrefix requires that each request begins with the previous one byte for byte, whatever changes
// between them that is no edit of the context.
func TestPromptKeepsPrefix(t *testing.T) {
	t.Parallel()
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		t.Parallel()
		r := newPrefixRig(t, on)
		r.turn("nothing", nil)
		for _, change := range prefixChanges() {
			r.change(change)
		}
		r.Close()
	})
}

// prefixChange is a change before a turn, with the members of its turn/start.
type prefixChange struct {
	name   string
	do     func(r *prefixRig)
	params apptest.Object
}

func prefixChanges() []prefixChange {
	mode := func(name string, text any) apptest.Object {
		return apptest.Object{"collaborationMode": apptest.Object{"mode": name,
			"settings": apptest.Object{"model": "test", "reasoning_effort": nil, "developer_instructions": text}}}
	}
	sandbox := func(kind string) apptest.Object {
		return apptest.Object{"sandboxPolicy": apptest.Object{"type": kind}}
	}
	return []prefixChange{
		{"plan mode on", nil, mode("plan", nil)},
		{"plan mode stays", nil, nil},
		{"plan mode with other instructions", nil, mode("plan", "Think twice.")},
		{"plan mode off", nil, mode("default", nil)},
		{"plan mode on again", nil, mode("plan", nil)},
		{"plan mode off again", nil, mode("default", nil)},
		{"read-only", nil, sandbox("readOnly")},
		{"workspace-write", nil, sandbox("workspaceWrite")},
		{"full access", nil, sandbox("dangerFullAccess")},
		{"approval on request", nil, apptest.Object{"approvalPolicy": "on-request"}},
		{"approval untrusted", nil, apptest.Object{"approvalPolicy": "untrusted"}},
		{"approval never", nil, apptest.Object{"approvalPolicy": "never"}},
		{"effort", nil, apptest.Object{"effort": "high"}},
		{"summary", nil, apptest.Object{"summary": "detailed"}},
		{"instructions appear", func(r *prefixRig) { r.write("AGENTS.md", "Use tabs.") }, nil},
		{"instructions change", func(r *prefixRig) { r.write("AGENTS.md", "Use spaces.") }, nil},
		{"instructions go", func(r *prefixRig) { require.NoError(r.t, os.Remove(filepath.Join(r.cwd, "AGENTS.md"))) }, nil},
		{"a skill appears", func(r *prefixRig) {
			apptest.WriteSkill(r.t, filepath.Join(r.home, "skills", "release"), apptest.SkillText)
		}, nil},
		{"a skill goes", func(r *prefixRig) { require.NoError(r.t, os.RemoveAll(filepath.Join(r.home, "skills"))) }, nil},
		{"restart", (*prefixRig).restart, nil},
		{"restart after a kill", func(r *prefixRig) { r.Kill(); r.start(); r.resume() }, nil},
		{"review", (*prefixRig).review, nil},
		{"memory off", func(r *prefixRig) { r.memory("disabled") }, nil},
		{"memory on", func(r *prefixRig) { r.memory("enabled") }, nil},
		{"name", func(r *prefixRig) {
			r.Call("thread/name/set", apptest.Object{"threadId": r.thread, "name": "New"})
		}, nil},
		{"other directory", func(r *prefixRig) { r.cwd = r.t.TempDir() }, nil},
		{"fork", func(r *prefixRig) {
			r.thread = r.CallThread("thread/fork", apptest.Object{"threadId": r.thread}).ID
		}, nil},
	}
}

func newPrefixRig(t *testing.T, on apptest.WireAPI) *prefixRig {
	t.Helper()
	p := on.NewProvider(t, countingAnswers(60)...)
	r := &prefixRig{t: t, provider: p, on: on, home: p.Home(t), cwd: t.TempDir(),
		flags: []string{"-c", `web_search="disabled"`}}
	r.flags = append(append(r.flags, apptest.MemoryFlags...), withoutCheckpoints...)
	r.start()
	r.thread = r.StartThread(apptest.Object{"cwd": r.cwd, "approvalPolicy": "never", "sandbox": "danger-full-access"})
	return r
}

func (r *prefixRig) start() {
	r.Client = apptest.StartServer(r.t, r.home, r.flags...)
	r.Call("initialize", apptest.Object{"clientInfo": apptest.Object{"name": "test", "version": "1"},
		"capabilities": apptest.Object{"experimentalApi": true}})
}

func (r *prefixRig) restart() {
	r.Close()
	r.start()
	r.resume()
}

func (r *prefixRig) resume() { r.Call("thread/resume", apptest.Object{"threadId": r.thread}) }

func (r *prefixRig) memory(mode string) {
	r.Call("thread/memoryMode/set", apptest.Object{"threadId": r.thread, "mode": mode})
}

func (r *prefixRig) write(name, text string) {
	require.NoError(r.t, os.WriteFile(filepath.Join(r.cwd, name), []byte(text), 0o600))
}

// review runs a review. Its request is a conversation of its own.
func (r *prefixRig) review() {
	r.Call("review/start", apptest.Object{"threadId": r.thread,
		"target": apptest.Object{"type": "custom", "instructions": "Look."}})
	r.AwaitTurn()
}

func (r *prefixRig) change(c prefixChange) {
	r.t.Helper()
	if c.do != nil {
		c.do(r)
	}
	r.turn(c.name, c.params)
}

// turn runs a turn and requires that its request begins with that of the turn before.
func (r *prefixRig) turn(name string, params apptest.Object) {
	r.t.Helper()
	start := apptest.Object{"threadId": r.thread, "cwd": r.cwd, "input": apptest.TextInput("after: " + name)}
	for member, value := range params {
		start[member] = value
	}
	r.Call("turn/start", start)
	require.Equal(r.t, "completed", r.AwaitTurn().Status, name)
	requests := r.provider.Requests()
	body := requests[len(requests)-1].Body
	if r.last != "" {
		requirePrefix(r.t, r.on, r.last, body, name)
	}
	r.last = body
}

// requirePrefix requires that a request begins with the tools, the system prompt and the messages of another one.
func requirePrefix(t *testing.T, on apptest.WireAPI, before, after, event string) {
	t.Helper()
	messages := "messages"
	if on == apptest.ResponsesWire {
		messages = "input"
		require.Equal(t, gjson.Get(before, "instructions").Raw, gjson.Get(after, "instructions").Raw, event)
	}
	require.Equal(t, gjson.Get(before, "tools").Raw, gjson.Get(after, "tools").Raw, event)
	was, is := raws(gjson.Get(before, messages)), raws(gjson.Get(after, messages))
	require.Greater(t, len(is), len(was), event)
	require.Equal(t, was, is[:len(was)], event)
}

func raws(list gjson.Result) (texts []string) {
	for _, entry := range list.Array() {
		texts = append(texts, entry.Raw)
	}
	return texts
}

// TestToolsInAnotherOrderKeepPrefix: a server lists its tools in any order, and a restart changes it.
func TestToolsInAnotherOrderKeepPrefix(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, countingAnswers(2)...)
	home := homeOfRawServer(p, t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	c.Turn(thread, "first")
	c.Close()
	list := filepath.Join(home, "tools.json")
	text, err := os.ReadFile(list)
	require.NoError(t, err)
	tools := raws(gjson.GetBytes(text, "tools"))
	slices.Reverse(tools)
	require.NoError(t, os.WriteFile(list, []byte(`{"tools":[`+strings.Join(tools, ",")+`]}`), 0o600))
	c = apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": thread})
	c.Turn(thread, "second")
	requirePrefix(t, apptest.ChatWire, p.Requests()[0].Body, p.Requests()[1].Body, "another order of tools")
	c.Close()
}

// TestReminderKeepsPrefix: a reminder precedes the user's message, and earlier ones stay.
func TestReminderKeepsPrefix(t *testing.T) {
	t.Parallel()
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		t.Parallel()
		r := newPrefixRig(t, on)
		for _, fact := range []string{"The metrics endpoint of the gateway listens on port 9137.",
			"The deployment of the billing service needs the flag --canary."} {
			require.Equal(t, "completed", r.Turn(r.thread, fact).Status)
		}
		require.Equal(t, "completed", r.Turn(r.thread, "Thanks.").Status)
		r.Call("thread/context/trim", apptest.Object{"threadId": r.thread, "keepLastNTurns": 1})
		r.UntilMethod("memory/updated")
		r.turn("which port has the metrics endpoint of the gateway?", nil)
		first := r.reminders()
		require.Len(t, first, 1)
		r.turn("which flag needs the deployment of the billing service?", nil)
		require.Len(t, r.reminders(), 2, "the first one stays")
		r.restart()
		r.turn("and what else?", nil)
		require.Equal(t, first[0], r.reminders()[0])
		r.Close()
	})
}

// reminders returns the reminders of the last request. The last message but one is the newest if there is a new one.
func (r *prefixRig) reminders() (found []string) {
	var texts []string
	requests := r.provider.Requests()
	for _, m := range requests[len(requests)-1].Messages {
		text, err := json.Marshal(gjson.GetBytes(m, "content").Str)
		require.NoError(r.t, err)
		texts = append(texts, "user: "+gjson.ParseBytes(text).Str)
	}
	return reminders(texts)
}
