//go:build reference

package interchange

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// Run with REFERENCE_BINARY naming the program of the reference implementation:
//
//	REFERENCE_BINARY=FILE go test -tags reference -run TestReferenceInterchange ./test/interchange

// interchange is a home that both servers use, a project, and the model of both.
type interchange struct {
	t             *testing.T
	home, project string
	model         *bilingual
	// providers are those of the configuration.
	providers []string
}

// newInterchange configures another model and, by default, another approval policy than
// the tests choose, to tell what a thread keeps from what is configured.
func newInterchange(t *testing.T) *interchange {
	x := &interchange{t, t.TempDir(), t.TempDir(), newBilingual(t), []string{"test"}}
	apptest.WriteConfig(t, x.home, fmt.Sprintf(`model = "configured"
model_provider = "test"
sandbox_mode = "danger-full-access"
[model_providers.test]
name = "test"
base_url = %q
`, x.model.server.URL+theirRequests+"/v1"))
	return x
}

func (x *interchange) ours() *apptest.Client { return x.oursWith() }

// oursWith starts our server with more arguments. It asks by the API that REFERENCE_WIRE names,
// or by Responses, at an address of its own.
func (x *interchange) oursWith(args ...string) *apptest.Client {
	x.t.Helper()
	for _, name := range x.providers {
		args = append(args, "-c", fmt.Sprintf("model_providers.%s.base_url=%q", name, x.model.server.URL+ourRequests+"/v1"),
			"-c", fmt.Sprintf("model_providers.%s.wire_api=%q", name, cmp.Or(os.Getenv("REFERENCE_WIRE"), "responses")))
	}
	c := apptest.StartServer(x.t, x.home, args...)
	c.Initialize()
	return c
}

func (x *interchange) reference() *apptest.Client {
	x.t.Helper()
	c := startReference(x.t, x.home)
	c.Initialize()
	return c
}

// begin starts a thread whose commands run unasked.
func (x *interchange) begin(c *apptest.Client) (id string) {
	x.t.Helper()
	return c.StartThread(apptest.Object{"cwd": x.project, "model": "chosen", "approvalPolicy": "never"})
}

// inList is the thread in the answer to thread/list.
func inList(c *apptest.Client, id string) apptest.ComparedThread {
	c.T.Helper()
	var page struct{ Data []apptest.ComparedThread }
	require.NoError(c.T, json.Unmarshal(c.Call("thread/list", apptest.Object{}), &page))
	for _, thread := range page.Data {
		if thread.ID == id {
			return thread
		}
	}
	require.Fail(c.T, "the thread is not listed", id)
	return apptest.ComparedThread{}
}

// TestReferenceInterchange has this server and the reference implementation go on with
// each other's threads.
func TestReferenceInterchange(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*interchange)
	}{
		{"there and back", (*interchange).thereAndBack},
		{"from ours", func(x *interchange) { x.handOver(x.ours, x.reference, theirRequests, "") }},
		{"from reference", func(x *interchange) { x.handOver(x.reference, x.ours, ourRequests, "aborted by user") }},
		{"patches of ours", func(x *interchange) { x.patches(x.ours, x.reference) }},
		{"patches of reference", func(x *interchange) { x.patches(x.reference, x.ours) }},
		{"own commands of ours", func(x *interchange) { x.ownCommands(x.ours, x.reference, theirRequests) }},
		{"own commands of reference", func(x *interchange) { x.ownCommands(x.reference, x.ours, ourRequests) }},
		{"terminals of ours", func(x *interchange) { x.terminals(x.ours, x.reference, theirRequests) }},
		{"terminals of reference", func(x *interchange) { x.terminals(x.reference, x.ours, ourRequests) }},
		{"MCP of ours", func(x *interchange) { x.serverTools(x.ours, x.reference, theirRequests) }},
		{"MCP of reference", func(x *interchange) { x.serverTools(x.reference, x.ours, ourRequests) }},
		{"settings", (*interchange).settings},
		{"names", (*interchange).names},
		{"pruned", (*interchange).pruned},
		{"archive", (*interchange).archive},
		{"locks", (*interchange).locks},
		{"timeline", (*interchange).timeline},
		{"ours damaged", func(x *interchange) { x.damaged(x.ours()) }},
		{"reference damaged", func(x *interchange) { x.damaged(x.reference()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(newInterchange(t))
		})
	}
}

// thereAndBack has two turns here, one there and one here again.
func (x *interchange) thereAndBack() {
	c := x.ours()
	id := x.begin(c)
	c.Turn(id, "first")
	c.Turn(id, "run: echo hi; echo there")
	here := c.CompareAnswer("thread/resume", id)
	require.Len(x.t, here.Thread.Turns, 2)
	c.Close()

	c = x.reference()
	require.Equal(x.t, "first", inList(c, id).Preview)
	require.Equal(x.t, here, c.CompareAnswer("thread/resume", id))
	c.Turn(id, "third")
	told := []string{
		"user: first", "assistant: answer to first",
		"user: run: echo hi; echo there", "call call_1: echo hi; echo there", "output call_1: hi\nthere\n", "assistant: done",
		"user: third",
	}
	require.Equal(x.t, told, x.model.told(theirRequests))
	there := c.CompareAnswer("thread/resume", id)
	require.Len(x.t, there.Thread.Turns, 3)
	c.Close()

	c = x.ours()
	require.Equal(x.t, there.Thread, c.CompareAnswer("thread/read", id).Thread)
	require.Equal(x.t, there, c.CompareAnswer("thread/resume", id))
	c.Turn(id, "fourth")
	require.Equal(x.t, append(told, "assistant: answer to third", "user: fourth"), x.model.told(ourRequests))
	require.Len(x.t, c.CompareAnswer("thread/read", id).Thread.Turns, 4)
	c.Close()
}

// handOver ends a turn in the middle of its command, and goes on with the other
// server, whose requests have the path. The output of that command is what it put out,
// where we wrote it; the reference implementation says that it was aborted.
func (x *interchange) handOver(from, to func() *apptest.Client, path, output string) {
	c := from()
	id := x.begin(c)
	c.Turn(id, "run: echo hi")
	turn := c.BeginTurn(id, "run: sleep 30")
	c.Until(func(m apptest.Message) bool {
		return m.Method == "item/started" && strings.Contains(m.Line, `"commandExecution"`)
	})
	c.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turn})
	require.Equal(x.t, "interrupted", c.AwaitTurn().Status)
	c.Close()

	// The reference implementation ends the command, and writes its item, when it
	// ends itself: what it shows of the turn is settled in the next process only.
	c = from()
	told := c.CompareAnswer("thread/resume", id)
	require.Len(x.t, told.Thread.Turns, 2)
	require.Equal(x.t, "interrupted", told.Thread.Turns[1].Status)
	require.Equal(x.t, told.Thread, c.CompareAnswer("thread/read", id).Thread)
	c.Close()

	// Its thread/read shows no turns of a thread that it has not resumed once, because
	// it reads them from a database of its own.
	c = to()
	require.Equal(x.t, told, c.CompareAnswer("thread/resume", id))
	require.Equal(x.t, told.Thread, c.CompareAnswer("thread/read", id).Thread)
	c.Turn(id, "third")
	require.Equal(x.t, []string{
		"user: run: echo hi", "call call_1: echo hi", "output call_1: hi\n", "assistant: done",
		"user: run: sleep 30", "call call_2: sleep 30", "output call_2: " + output, "user: <turn_aborted>",
		"user: third",
	}, x.model.told(path))
	c.Close()
}

// patches has a file patched, and shows that by the other server. Of a file that is moved
// the two do not show the same: the reference implementation adds the new name to the
// diff, which would then not apply; both tell it in the kind.
func (x *interchange) patches(from, to func() *apptest.Client) {
	c := from()
	id := x.begin(c)
	c.Turn(id, "run: "+strings.ReplaceAll(apptest.PatchCommand, "\n", "⏎"))
	c.Turn(id, "run: "+strings.NewReplacer("\n", "⏎", "Add File: notes/new\n+",
		"Update File: notes/new⏎@@⏎+more⏎-").Replace(apptest.PatchCommand))
	told := c.CompareAnswer("thread/resume", id)
	c.Close()
	content, err := os.ReadFile(x.project + "/notes/new")
	require.NoError(x.t, err)
	require.Equal(x.t, "more\n", string(content))
	require.Len(x.t, told.Thread.Turns, 2)
	for _, turn := range told.Thread.Turns {
		require.Equal(x.t, "fileChange", turn.Items[1]["type"])
		require.Equal(x.t, "completed", turn.Items[1]["status"])
	}

	c = to()
	require.Equal(x.t, told, c.CompareAnswer("thread/resume", id))
	require.Equal(x.t, told.Thread, c.CompareAnswer("thread/read", id).Thread)
	c.Close()
}

// settings has the reference implementation choose a sandbox. Of a thread of ours it
// takes the directory, the model and the policy, but the sandbox that is configured: it
// looks for that in events thread_settings_applied, which we do not write. Of its own
// threads it loses workspace-write in the same way.
func (x *interchange) settings() {
	c := x.reference()
	id := c.StartThread(apptest.Object{"cwd": x.project, "model": "chosen", "approvalPolicy": "on-request",
		"sandbox": "read-only"})
	c.Turn(id, "first")
	c.Close()
	c = x.reference()
	told := c.CompareAnswer("thread/resume", id)
	require.Equal(x.t, apptest.Object{"type": "readOnly", "networkAccess": false}, told.Sandbox)
	c.Close()
	c = x.ours()
	require.Equal(x.t, told, c.CompareAnswer("thread/resume", id))
	c.Close()
}

func (x *interchange) names() {
	c := x.reference()
	id := x.begin(c)
	c.Turn(id, "first")
	c.Call("thread/name/set", apptest.Object{"threadId": id, "name": "set there"})
	old := c.StartThread(apptest.Object{"cwd": x.project, "historyMode": "legacy"})
	c.Turn(old, "second")
	c.Close()

	c = x.ours()
	require.Equal(x.t, "set there", inList(c, id).Name)
	require.Equal(x.t, "set there", c.CompareAnswer("thread/read", id).Thread.Name)
	require.Equal(x.t, "set there", c.CompareAnswer("thread/resume", id).Thread.Name)
	c.CompareAnswer("thread/resume", old)
	c.Call("thread/name/set", apptest.Object{"threadId": old, "name": "set here"})
	c.Close()

	// The reference implementation keeps the names of other than legacy threads in a
	// database of its own alone, and does not find them again where it lost that.
	c = x.reference()
	require.Equal(x.t, "set here", inList(c, old).Name)
	require.Equal(x.t, "set here", c.CompareAnswer("thread/read", old).Thread.Name)
	require.Equal(x.t, "set here", c.CompareAnswer("thread/resume", old).Thread.Name)
	c.Close()
}

// timeline is the same in both, of what either wrote, page by page.
func (x *interchange) timeline() {
	c := x.ours()
	id := x.begin(c)
	c.Turn(id, "first")
	c.Turn(id, "run: echo hi")
	here := c.Timeline(id)
	c.Close()

	c = x.reference()
	c.CompareAnswer("thread/resume", id)
	require.Equal(x.t, here, c.Timeline(id))
	c.Turn(id, "third")
	there := c.Timeline(id)
	require.Greater(x.t, len(there), len(here))
	c.Close()

	c = x.ours()
	require.Equal(x.t, there, c.Timeline(id))
	c.Close()
}

// locks has both servers run all the time.
func (x *interchange) locks() {
	ours, theirs := x.ours(), x.reference()
	id := x.begin(ours)
	ours.Turn(id, "first")
	resume := apptest.Object{"threadId": id}
	refusal := "thread " + id + " already has an active writer"
	require.Contains(x.t, theirs.CallRejected("thread/resume", resume).Message, refusal)
	ours.Close()
	theirs.Call("thread/resume", resume)
	ours = x.ours()
	require.Contains(x.t, ours.CallRejected("thread/resume", resume).Message, refusal)
	turn := ours.CallRejected("turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput("mine")})
	require.Contains(x.t, turn.Message, refusal)
	require.Equal(x.t, "threadLocked", turn.Data.Kind)
	theirs.Turn(id, "second") // its lock is its own still
	require.Len(x.t, ours.ReadThread(id).Turns, 2)
	theirs.Close()
	ours.Call("thread/resume", resume)
	ours.Close()
}

// damaged loses a line in the middle of what a server wrote, and a part of what it
// did not get to the end of.
func (x *interchange) damaged(writer *apptest.Client) {
	id := x.begin(writer)
	writer.Turn(id, "first")
	writer.Turn(id, "run: echo hi")
	told := writer.CompareAnswer("thread/resume", id)
	writer.Close()
	line := x.damage(told.Thread.Path)
	first := &told.Thread.Turns[0]
	first.Items = first.Items[:len(first.Items)-1]

	c := x.ours()
	require.Equal(x.t, told, c.CompareAnswer("thread/resume", id))
	c.Turn(id, "third")
	require.Equal(x.t, []string{
		"user: first", "assistant: answer to first",
		"user: run: echo hi", "call call_1: echo hi", "output call_1: hi\n", "assistant: done",
		"user: third",
	}, x.model.told(ourRequests))
	require.Len(x.t, c.CompareAnswer("thread/read", id).Thread.Turns, 3)
	c.Close()
	require.Len(x.t, c.Warnings(), 1, "the torn tail is none")
	require.Contains(x.t, c.Warnings()[0], fmt.Sprintf("line %d ", line))
}

// damage destroys the line, counted from 1, with the first item of the agent's.
func (x *interchange) damage(path string) (line int) {
	x.t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(x.t, err)
	lines := strings.SplitAfter(string(text), "\n")
	for i, l := range lines {
		if strings.Contains(l, `"item_completed"`) && strings.Contains(l, `"AgentMessage"`) {
			lines[i] = "\x00\xff" + l[len(l)/2:]
			lines = append(lines, `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":99,"type":"resp`)
			require.NoError(x.t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
			return i + 1
		}
	}
	require.Fail(x.t, "the agent said nothing", path)
	return 0
}
