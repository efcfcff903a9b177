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
// REFERENCE_BINARY=FILE go test -tags reference -run TestReferenceInterchange ./test/interchange

// interchange is a home and a project that both servers use, with the model of both.
type interchange struct {
	t             *testing.T
	home, project string
	model         *bilingual
	// providers are the configured ones.
	providers []string
}

// newInterchange configures another model and, by default, another approval policy than the tests
// choose. So the tests can distinguish a thread's settings from the configuration.
func newInterchange(t *testing.T) *interchange {
	apptest.NeedsFiles(t, apptest.FilesExchange)
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

// oursWith starts this server with arguments. It uses the API in REFERENCE_WIRE, or Responses, at
// its own address.
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

// startThread starts a thread whose commands need no approval.
func (x *interchange) startThread(c *apptest.Client) (id string) {
	x.t.Helper()
	return c.StartThread(apptest.Object{"cwd": x.project, "model": "chosen", "approvalPolicy": "never"})
}

// inList returns the thread in the response to thread/list.
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

// TestReferenceInterchange continues threads of each server with the other.
func TestReferenceInterchange(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesExchange)
	for _, c := range []struct {
		name string
		run  func(*interchange)
	}{
		{"there and back", (*interchange).bothWays},
		{"from ours", func(x *interchange) { x.continueInterrupted(x.ours, x.reference, theirRequests, "") }},
		{"from reference", func(x *interchange) {
			x.continueInterrupted(x.reference, x.ours, ourRequests,
				"aborted by user")
		}},
		{"patches of ours", func(x *interchange) { x.patches(x.ours, x.reference) }},
		{"patches of reference", func(x *interchange) { x.patches(x.reference, x.ours) }},
		{"own commands of ours", func(x *interchange) { x.userCommands(x.ours, x.reference, theirRequests) }},
		{"own commands of reference", func(x *interchange) { x.userCommands(x.reference, x.ours, ourRequests) }},
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
		{"timeline after a late checkpoint", (*interchange).timelineAfterCheckpoint},
		{"ours damaged", func(x *interchange) { x.damaged(x.ours()) }},
		{"reference damaged", func(x *interchange) { x.damaged(x.reference()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(newInterchange(t))
		})
	}
}

// bothWays runs two turns here, one there and one here again.
func (x *interchange) bothWays() {
	c := x.ours()
	id := x.startThread(c)
	c.Turn(id, "first")
	c.Turn(id, "run: echo hi; echo there")
	here := c.CompareAnswer("thread/resume", id)
	require.Len(x.t, here.Thread.Turns, 2)
	c.Close()

	c = x.reference()
	require.Equal(x.t, "first", inList(c, id).Preview)
	require.Equal(x.t, here, c.CompareAnswer("thread/resume", id))
	c.Turn(id, "third")
	prompt := []string{
		"user: first", "assistant: answer to first",
		"user: run: echo hi; echo there", "call call_1: echo hi; echo there", "output call_1: hi\nthere\n", "assistant: done",
		"user: third",
	}
	require.Equal(x.t, prompt, x.model.conversation(theirRequests))
	there := c.CompareAnswer("thread/resume", id)
	require.Len(x.t, there.Thread.Turns, 3)
	c.Close()

	c = x.ours()
	require.Equal(x.t, there.Thread, c.CompareAnswer("thread/read", id).Thread)
	require.Equal(x.t, there, c.CompareAnswer("thread/resume", id))
	c.Turn(id, "fourth")
	require.Equal(x.t, append(prompt, "assistant: answer to third", "user: fourth"), x.model.conversation(ourRequests))
	require.Len(x.t, c.CompareAnswer("thread/read", id).Thread.Turns, 4)
	c.Close()
}

// continueInterrupted interrupts a turn during its command, and continues with the other server.
// path selects that server's model requests. The command's output is kept if this server wrote it;
// the reference replaces it by a notice of the abort.
func (x *interchange) continueInterrupted(from, to func() *apptest.Client, path, output string) {
	c := from()
	id := x.startThread(c)
	c.Turn(id, "run: echo hi")
	turn := c.BeginTurn(id, "run: sleep 30")
	c.Until(func(m apptest.Message) bool {
		return m.Method == "item/started" && strings.Contains(m.Line, `"commandExecution"`)
	})
	c.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turn})
	require.Equal(x.t, "interrupted", c.AwaitTurn().Status)
	c.Close()

	// The reference kills the command and writes its item on shutdown, so only the next process has
	// the final turn.
	c = from()
	resumed := c.CompareAnswer("thread/resume", id)
	require.Len(x.t, resumed.Thread.Turns, 2)
	require.Equal(x.t, "interrupted", resumed.Thread.Turns[1].Status)
	require.Equal(x.t, resumed.Thread, c.CompareAnswer("thread/read", id).Thread)
	c.Close()

	// Its thread/read shows turns only after a first resume, because it reads them from its own
	// database.
	c = to()
	require.Equal(x.t, resumed, c.CompareAnswer("thread/resume", id))
	require.Equal(x.t, resumed.Thread, c.CompareAnswer("thread/read", id).Thread)
	c.Turn(id, "third")
	require.Equal(x.t, []string{
		"user: run: echo hi", "call call_1: echo hi", "output call_1: hi\n", "assistant: done",
		"user: run: sleep 30", "call call_2: sleep 30", "output call_2: " + output, "user: <turn_aborted>",
		"user: third",
	}, x.model.conversation(path))
	c.Close()
}

// patches applies patches with one server and reads them with the other. A moved file would differ:
// the reference adds the new name to the diff, which git could then not apply. Both name it in the
// kind.
func (x *interchange) patches(from, to func() *apptest.Client) {
	c := from()
	id := x.startThread(c)
	c.Turn(id, "run: "+strings.ReplaceAll(apptest.PatchCommand, "\n", "⏎"))
	c.Turn(id, "run: "+strings.NewReplacer("\n", "⏎", "Add File: notes/new\n+",
		"Update File: notes/new⏎@@⏎+more⏎-").Replace(apptest.PatchCommand))
	resumed := c.CompareAnswer("thread/resume", id)
	c.Close()
	content, err := os.ReadFile(x.project + "/notes/new")
	require.NoError(x.t, err)
	require.Equal(x.t, "more\n", string(content))
	require.Len(x.t, resumed.Thread.Turns, 2)
	for _, turn := range resumed.Thread.Turns {
		require.Equal(x.t, "fileChange", turn.Items[1]["type"])
		require.Equal(x.t, "completed", turn.Items[1]["status"])
	}

	c = to()
	require.Equal(x.t, resumed, c.CompareAnswer("thread/resume", id))
	require.Equal(x.t, resumed.Thread, c.CompareAnswer("thread/read", id).Thread)
	c.Close()
}

// settings chooses a sandbox with the reference. For a thread of this server the reference keeps
// folder, model and policy, but takes the sandbox from the configuration: it reads events
// thread_settings_applied, which this server does not write. It loses workspace-write of its own
// threads in the same way.
func (x *interchange) settings() {
	c := x.reference()
	id := c.StartThread(apptest.Object{"cwd": x.project, "model": "chosen", "approvalPolicy": "on-request",
		"sandbox": "read-only"})
	c.Turn(id, "first")
	c.Close()
	c = x.reference()
	resumed := c.CompareAnswer("thread/resume", id)
	require.Equal(x.t, apptest.Object{"type": "readOnly", "networkAccess": false}, resumed.Sandbox)
	c.Close()
	c = x.ours()
	require.Equal(x.t, resumed, c.CompareAnswer("thread/resume", id))
	c.Close()
}

func (x *interchange) names() {
	c := x.reference()
	id := x.startThread(c)
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

	// The reference keeps the names of paginated threads only in its database, and loses them with it.
	c = x.reference()
	require.Equal(x.t, "set here", inList(c, old).Name)
	require.Equal(x.t, "set here", c.CompareAnswer("thread/read", old).Thread.Name)
	require.Equal(x.t, "set here", c.CompareAnswer("thread/resume", old).Thread.Name)
	c.Close()
}

// timeline compares all pages of the timeline, for threads of both. Checkpoints are off, because the
// line of one can follow its turn: see timelineAfterCheckpoint.
func (x *interchange) timeline() {
	c := x.oursWith("-c", "checkpoints.enabled=false")
	id := x.startThread(c)
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

// timelineAfterCheckpoint ends a rollout with the line of a checkpoint. The reference skips the line
// and gives its ordinal to its own next line. This server does not use an ordinal twice, so its later
// positions are higher by one.
func (x *interchange) timelineAfterCheckpoint() {
	c := x.oursWith("-c", "checkpoints.enabled=false")
	id := x.startThread(c)
	c.Turn(id, "first")
	resumed := c.CompareAnswer("thread/resume", id)
	c.Close()
	ordinal := x.addCheckpoint(&resumed.Thread)

	c = x.reference()
	require.Equal(x.t, resumed, c.CompareAnswer("thread/resume", id))
	c.Turn(id, "second")
	want := c.Timeline(id)
	c.Close()
	later := 0
	for _, entry := range want {
		if position := entry["position"].(float64); position >= float64(ordinal) {
			entry["position"] = position + 1
			later++
		}
	}
	require.Equal(x.t, 4, later, "the begin of the second turn, its messages, its end")

	c = x.ours()
	require.Equal(x.t, want, c.Timeline(id))
	c.Close()
}

// addCheckpoint appends the line of a checkpoint to a rollout, and returns the line's ordinal.
func (x *interchange) addCheckpoint(thread *apptest.ComparedThread) (ordinal int) {
	x.t.Helper()
	content, err := os.ReadFile(thread.Path)
	require.NoError(x.t, err)
	ordinal = strings.Count(string(content), "\n")
	content = fmt.Appendf(content, `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":%d,"type":"checkpoint","payload":`+
		`{"id":%q,"kind":"turn","trees":[]}}`+"\n", ordinal, thread.Turns[0].ID)
	require.NoError(x.t, os.WriteFile(thread.Path, content, 0o600))
	return ordinal
}

// locks runs both servers at the same time.
func (x *interchange) locks() {
	ours, theirs := x.ours(), x.reference()
	id := x.startThread(ours)
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
	theirs.Turn(id, "second") // it still has its lock
	require.Len(x.t, ours.ReadThread(id).Turns, 2)
	theirs.Close()
	ours.Call("thread/resume", resume)
	ours.Close()
}

// damaged destroys a line in the middle of a server's rollout, and appends a torn tail.
func (x *interchange) damaged(writer *apptest.Client) {
	id := x.startThread(writer)
	writer.Turn(id, "first")
	writer.Turn(id, "run: echo hi")
	resumed := writer.CompareAnswer("thread/resume", id)
	writer.Close()
	line := x.damage(resumed.Thread.Path)
	first := &resumed.Thread.Turns[0]
	first.Items = first.Items[:len(first.Items)-1]

	c := x.ours()
	require.Equal(x.t, resumed, c.CompareAnswer("thread/resume", id))
	c.Turn(id, "third")
	require.Equal(x.t, []string{
		"user: first", "assistant: answer to first",
		"user: run: echo hi", "call call_1: echo hi", "output call_1: hi\n", "assistant: done",
		"user: third",
	}, x.model.conversation(ourRequests))
	require.Len(x.t, c.CompareAnswer("thread/read", id).Thread.Turns, 3)
	c.Close()
	require.Len(x.t, c.Warnings(), 1, "a torn tail is no damage")
	require.Contains(x.t, c.Warnings()[0], fmt.Sprintf("line %d ", line))
}

// damage destroys the line, counted from 1, with the agent's first item.
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
	require.Fail(x.t, "no message of the agent", path)
	return 0
}
