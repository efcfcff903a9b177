//go:build reference

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Run with REFERENCE_BINARY naming the program of the reference implementation:
//
//	REFERENCE_BINARY=FILE go test -tags reference -run TestReferenceInterchange ./cmd/appserver

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
	writeConfig(t, x.home, fmt.Sprintf(`model = "configured"
model_provider = "test"
sandbox_mode = "danger-full-access"
[model_providers.test]
name = "test"
base_url = %q
`, x.model.server.URL+theirRequests+"/v1"))
	return x
}

func (x *interchange) ours() *client { return x.oursWith() }

// oursWith starts our server with more arguments. It asks by the API that REFERENCE_WIRE names,
// or by Responses, at an address of its own.
func (x *interchange) oursWith(args ...string) *client {
	x.t.Helper()
	for _, name := range x.providers {
		args = append(args, "-c", fmt.Sprintf("model_providers.%s.base_url=%q", name, x.model.server.URL+ourRequests+"/v1"),
			"-c", fmt.Sprintf("model_providers.%s.wire_api=%q", name, cmp.Or(os.Getenv("REFERENCE_WIRE"), "responses")))
	}
	c := startServer(x.t, x.home, args...)
	c.initialize()
	return c
}

func (x *interchange) reference() *client {
	x.t.Helper()
	c := startReference(x.t, x.home)
	c.initialize()
	return c
}

// begin starts a thread whose commands run unasked.
func (x *interchange) begin(c *client) (id string) {
	x.t.Helper()
	return c.startThread(object{"cwd": x.project, "model": "chosen", "approvalPolicy": "never"})
}

// sameThread is what both servers show of a thread, items with all their members.
type sameThread struct {
	ID, Preview, Name, Path string
	Turns                   []struct {
		ID, Status string
		Items      []object
	}
}

// sameAnswer is an answer that both give. Only thread/resume tells the settings.
type sameAnswer struct {
	Model, ModelProvider, Cwd, ApprovalPolicy string
	Sandbox                                   object
	Thread                                    sameThread
}

// answer is that of thread/resume or thread/read.
func (c *client) answer(method, id string) (a sameAnswer) {
	c.t.Helper()
	require.NoError(c.t, json.Unmarshal(c.call(method, object{"threadId": id, "includeTurns": true}), &a))
	return a
}

// inList is the thread in the answer to thread/list.
func (c *client) inList(id string) sameThread {
	c.t.Helper()
	var page struct{ Data []sameThread }
	require.NoError(c.t, json.Unmarshal(c.call("thread/list", object{}), &page))
	for _, thread := range page.Data {
		if thread.ID == id {
			return thread
		}
	}
	require.Fail(c.t, "the thread is not listed", id)
	return sameThread{}
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
	c.turn(id, "first")
	c.turn(id, "run: echo hi; echo there")
	here := c.answer("thread/resume", id)
	require.Len(x.t, here.Thread.Turns, 2)
	c.close()

	c = x.reference()
	require.Equal(x.t, "first", c.inList(id).Preview)
	require.Equal(x.t, here, c.answer("thread/resume", id))
	c.turn(id, "third")
	told := []string{
		"user: first", "assistant: answer to first",
		"user: run: echo hi; echo there", "call call_1: echo hi; echo there", "output call_1: hi\nthere\n", "assistant: done",
		"user: third",
	}
	require.Equal(x.t, told, x.model.told(theirRequests))
	there := c.answer("thread/resume", id)
	require.Len(x.t, there.Thread.Turns, 3)
	c.close()

	c = x.ours()
	require.Equal(x.t, there.Thread, c.answer("thread/read", id).Thread)
	require.Equal(x.t, there, c.answer("thread/resume", id))
	c.turn(id, "fourth")
	require.Equal(x.t, append(told, "assistant: answer to third", "user: fourth"), x.model.told(ourRequests))
	require.Len(x.t, c.answer("thread/read", id).Thread.Turns, 4)
	c.close()
}

// handOver ends a turn in the middle of its command, and goes on with the other
// server, whose requests have the path. The output of that command is what it put out,
// where we wrote it; the reference implementation says that it was aborted.
func (x *interchange) handOver(from, to func() *client, path, output string) {
	c := from()
	id := x.begin(c)
	c.turn(id, "run: echo hi")
	turn := c.beginTurn(id, "run: sleep 30")
	c.until(func(m message) bool {
		return m.Method == "item/started" && strings.Contains(m.line, `"commandExecution"`)
	})
	c.call("turn/interrupt", object{"threadId": id, "turnId": turn})
	require.Equal(x.t, "interrupted", c.awaitTurn().Status)
	c.close()

	// The reference implementation ends the command, and writes its item, when it
	// ends itself: what it shows of the turn is settled in the next process only.
	c = from()
	told := c.answer("thread/resume", id)
	require.Len(x.t, told.Thread.Turns, 2)
	require.Equal(x.t, "interrupted", told.Thread.Turns[1].Status)
	require.Equal(x.t, told.Thread, c.answer("thread/read", id).Thread)
	c.close()

	// Its thread/read shows no turns of a thread that it has not resumed once, because
	// it reads them from a database of its own.
	c = to()
	require.Equal(x.t, told, c.answer("thread/resume", id))
	require.Equal(x.t, told.Thread, c.answer("thread/read", id).Thread)
	c.turn(id, "third")
	require.Equal(x.t, []string{
		"user: run: echo hi", "call call_1: echo hi", "output call_1: hi\n", "assistant: done",
		"user: run: sleep 30", "call call_2: sleep 30", "output call_2: " + output, "user: <turn_aborted>",
		"user: third",
	}, x.model.told(path))
	c.close()
}

// patches has a file patched, and shows that by the other server. Of a file that is moved
// the two do not show the same: the reference implementation adds the new name to the
// diff, which would then not apply; both tell it in the kind.
func (x *interchange) patches(from, to func() *client) {
	c := from()
	id := x.begin(c)
	c.turn(id, "run: "+strings.ReplaceAll(aPatch, "\n", "⏎"))
	c.turn(id, "run: "+strings.NewReplacer("\n", "⏎", "Add File: notes/new\n+", "Update File: notes/new⏎@@⏎+more⏎-").Replace(aPatch))
	told := c.answer("thread/resume", id)
	c.close()
	content, err := os.ReadFile(x.project + "/notes/new")
	require.NoError(x.t, err)
	require.Equal(x.t, "more\n", string(content))
	require.Len(x.t, told.Thread.Turns, 2)
	for _, turn := range told.Thread.Turns {
		require.Equal(x.t, "fileChange", turn.Items[1]["type"])
		require.Equal(x.t, "completed", turn.Items[1]["status"])
	}

	c = to()
	require.Equal(x.t, told, c.answer("thread/resume", id))
	require.Equal(x.t, told.Thread, c.answer("thread/read", id).Thread)
	c.close()
}

// settings has the reference implementation choose a sandbox. Of a thread of ours it
// takes the directory, the model and the policy, but the sandbox that is configured: it
// looks for that in events thread_settings_applied, which we do not write. Of its own
// threads it loses workspace-write in the same way.
func (x *interchange) settings() {
	c := x.reference()
	id := c.startThread(object{"cwd": x.project, "model": "chosen", "approvalPolicy": "on-request", "sandbox": "read-only"})
	c.turn(id, "first")
	c.close()
	c = x.reference()
	told := c.answer("thread/resume", id)
	require.Equal(x.t, object{"type": "readOnly", "networkAccess": false}, told.Sandbox)
	c.close()
	c = x.ours()
	require.Equal(x.t, told, c.answer("thread/resume", id))
	c.close()
}

func (x *interchange) names() {
	c := x.reference()
	id := x.begin(c)
	c.turn(id, "first")
	c.call("thread/name/set", object{"threadId": id, "name": "set there"})
	old := c.startThread(object{"cwd": x.project, "historyMode": "legacy"})
	c.turn(old, "second")
	c.close()

	c = x.ours()
	require.Equal(x.t, "set there", c.inList(id).Name)
	require.Equal(x.t, "set there", c.answer("thread/read", id).Thread.Name)
	require.Equal(x.t, "set there", c.answer("thread/resume", id).Thread.Name)
	c.answer("thread/resume", old)
	c.call("thread/name/set", object{"threadId": old, "name": "set here"})
	c.close()

	// The reference implementation keeps the names of other than legacy threads in a
	// database of its own alone, and does not find them again where it lost that.
	c = x.reference()
	require.Equal(x.t, "set here", c.inList(old).Name)
	require.Equal(x.t, "set here", c.answer("thread/read", old).Thread.Name)
	require.Equal(x.t, "set here", c.answer("thread/resume", old).Thread.Name)
	c.close()
}

// timeline is the same in both, of what either wrote, page by page.
func (x *interchange) timeline() {
	c := x.ours()
	id := x.begin(c)
	c.turn(id, "first")
	c.turn(id, "run: echo hi")
	here := c.timeline(id)
	c.close()

	c = x.reference()
	c.answer("thread/resume", id)
	require.Equal(x.t, here, c.timeline(id))
	c.turn(id, "third")
	there := c.timeline(id)
	require.Greater(x.t, len(there), len(here))
	c.close()

	c = x.ours()
	require.Equal(x.t, there, c.timeline(id))
	c.close()
}

// timeline is all of a thread's timeline, oldest entry first, without what only this
// server tells.
func (c *client) timeline(id string) (entries []object) {
	c.t.Helper()
	for cursor := (*string)(nil); ; {
		var page struct {
			Data       []object
			NextCursor *string
		}
		require.NoError(c.t, json.Unmarshal(c.call("thread/timeline/list", object{"threadId": id, "limit": 3, "cursor": cursor}), &page))
		for _, e := range page.Data {
			delete(e, "trimmed")
		}
		entries = append(page.Data, entries...)
		if cursor = page.NextCursor; cursor == nil {
			return entries
		}
	}
}

// locks has both servers run all the time.
func (x *interchange) locks() {
	ours, theirs := x.ours(), x.reference()
	id := x.begin(ours)
	ours.turn(id, "first")
	resume := object{"threadId": id}
	refusal := "thread " + id + " already has an active writer"
	require.Contains(x.t, theirs.refused("thread/resume", resume).Message, refusal)
	ours.close()
	theirs.call("thread/resume", resume)
	ours = x.ours()
	require.Contains(x.t, ours.refused("thread/resume", resume).Message, refusal)
	turn := ours.refused("turn/start", object{"threadId": id, "input": textInput("mine")})
	require.Contains(x.t, turn.Message, refusal)
	require.Equal(x.t, "threadLocked", turn.Data.Kind)
	theirs.turn(id, "second") // its lock is its own still
	require.Len(x.t, ours.readThread(id).Turns, 2)
	theirs.close()
	ours.call("thread/resume", resume)
	ours.close()
}

// damaged loses a line in the middle of what a server wrote, and a part of what it
// did not get to the end of.
func (x *interchange) damaged(writer *client) {
	id := x.begin(writer)
	writer.turn(id, "first")
	writer.turn(id, "run: echo hi")
	told := writer.answer("thread/resume", id)
	writer.close()
	line := x.damage(told.Thread.Path)
	first := &told.Thread.Turns[0]
	first.Items = first.Items[:len(first.Items)-1]

	c := x.ours()
	require.Equal(x.t, told, c.answer("thread/resume", id))
	c.turn(id, "third")
	require.Equal(x.t, []string{
		"user: first", "assistant: answer to first",
		"user: run: echo hi", "call call_1: echo hi", "output call_1: hi\n", "assistant: done",
		"user: third",
	}, x.model.told(ourRequests))
	require.Len(x.t, c.answer("thread/read", id).Thread.Turns, 3)
	c.close()
	require.Len(x.t, c.warnings(), 1, "the torn tail is none")
	require.Contains(x.t, c.warnings()[0], fmt.Sprintf("line %d ", line))
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
