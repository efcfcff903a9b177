package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
)

// outputOf returns the output of a call in a request.
func outputOf(t *testing.T, r apptest.ChatRequest, call string) string {
	t.Helper()
	for _, raw := range r.Messages {
		if m := gjson.ParseBytes(raw); m.Get("tool_call_id").Str == call {
			return m.Get("content").Str
		}
	}
	require.Failf(t, "no output", "%s in %s", call, r.Body)
	return ""
}

// TestRecallFindsAndRestores lets the model search items that left the context, and include an
// excluded one. The user can undo that.
func TestRecallFindsAndRestores(t *testing.T) { apptest.OnBothWires(t, testRecallFindsAndRestores) }

func testRecallFindsAndRestores(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	p := on.NewProvider(t, apptest.TextAnswer("Noted."), apptest.TextAnswer("The parser is done."),
		apptest.ToolAnswer("c1", "recall", `{"query":"metrics port"}`), apptest.TextAnswer("It is 9137."),
		apptest.ToolAnswer("c2", "recall", `{"ids":["r6"],"query":"weather"}`), apptest.TextAnswer("There it is."),
		apptest.TextAnswer("Gone again."), apptest.TextAnswer("Off."))
	c := apptest.StartServer(t, p.Home(t), "-c", "memory.recall_tool=true")
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "never"})
	c.Turn(thread, "The metrics endpoint listens on port 9137.")
	c.Turn(thread, "And now the parser.")
	excluded := c.ContextList(thread).Items[1]
	require.Equal(t, "r6", excluded.ID)
	c.Call("context/setInclusion", apptest.Object{"threadId": thread, "ids": []string{excluded.ID}, "included": false})

	require.Equal(t, "completed", c.Turn(thread, "Which port was it?").Status)
	requests := p.Requests()
	require.NotContains(t, strings.Join(requests[2].Conversation(t), "|"), "9137")
	require.Contains(t, requests[2].ToolNames(), "recall")
	require.Equal(t, "r6 (excluded): The metrics endpoint listens on port 9137.", outputOf(t, requests[3], "c1"))

	require.Equal(t, "completed", c.Turn(thread, "Bring it back.").Status)
	last := p.Requests()[5]
	require.Contains(t, outputOf(t, last, "c2"), "r6 is in the conversation again")
	require.Contains(t, outputOf(t, last, "c2"), "Nothing found")
	require.Contains(t, last.Conversation(t)[0], "The metrics endpoint listens on port 9137.")
	c.Call("context/undo", apptest.Object{"threadId": thread})
	conversation, _ := p.NextRequest(c, thread, "And now?")
	require.NotEqual(t, "user: The metrics endpoint listens on port 9137.", conversation[0])

	c.Call("thread/memoryMode/set", apptest.Object{"threadId": thread, "mode": "disabled"})
	c.Turn(thread, "Off?")
	require.Contains(t, p.Requests()[7].ToolNames(), "recall", "for what left the context")
	c.Close()
}

// TestRecallFindsOutputsByTheirCalls searches for the file that a trimmed call read. The output does not name it.
func TestRecallFindsOutputsByTheirCalls(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.ShellAnswer("c1", "cat notes.txt"), apptest.TextAnswer("Read."),
		apptest.ToolAnswer("c2", "recall", `{"query":"what did notes.txt say"}`), apptest.TextAnswer("It is 9137."))
	c := apptest.StartServer(t, p.Home(t), "-c", "memory.recall_tool=true")
	c.Initialize()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("The metrics listen on 9137.\n"), 0o600))
	thread := c.StartThread(apptest.Object{"cwd": dir, "approvalPolicy": "never", "sandbox": "danger-full-access"})
	c.Turn(thread, "Read it.")
	c.Call("thread/context/trim", apptest.Object{"threadId": thread, "keepLastNTurns": 0})
	c.Turn(thread, "What was in it?")
	found := outputOf(t, p.Requests()[3], "c2")
	require.Contains(t, found, "(removed with an earlier part of the conversation)")
	require.Contains(t, found, "The metrics listen on 9137.")
	c.Close()
}

// TestRecallBringsBackTrimmedItems lets the model include an output that a trim took out. Its call returns with it.
// The model cannot include what the user deleted.
func TestRecallBringsBackTrimmedItems(t *testing.T) {
	apptest.OnBothWires(t, testRecallBringsBackTrimmedItems)
}

func testRecallBringsBackTrimmedItems(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	p := on.NewProvider(t, apptest.ShellAnswer("c1", "echo the port is $((9000+137))"), apptest.TextAnswer("Read."),
		apptest.ToolAnswer("c2", "recall", `{"ids":["r13"]}`), apptest.TextAnswer("There it is."),
		apptest.ToolAnswer("c3", "recall", `{"ids":["r13"]}`), apptest.TextAnswer("It is gone."))
	c := apptest.StartServer(t, p.Home(t), "-c", "memory.recall_tool=true")
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "Read it.")
	require.Equal(t, protocol.CategoryToolOutput, c.ContextList(thread).Items[3].Category)
	require.Equal(t, "r13", c.ContextList(thread).Items[3].ID)
	call := c.ContextList(thread).Items[2].ID
	c.Call("thread/context/trim", apptest.Object{"threadId": thread, "keepLastNTurns": 0})
	c.Turn(thread, "Bring it back.")
	last := p.Requests()[3]
	require.Contains(t, outputOf(t, last, "c2"), "r13 is in the conversation again")
	requireReturned(t, append(last.Conversation(t), "And now the parser."))

	c.Call("context/pruneByIndices", apptest.Object{"threadId": thread, "ids": []string{call}})
	c.Turn(thread, "Once more.")
	require.Contains(t, outputOf(t, p.Requests()[5], "c3"), "The user deleted it")
	require.NotContains(t, strings.Join(p.Requests()[5].Conversation(t), "\n"), "the port is 9137")
	c.Close()
}

// TestMemorySummariesComeFromModel summarizes pruned items by the model. If it fails, there is an
// extract and one warning.
func TestMemorySummariesComeFromModel(t *testing.T) {
	apptest.OnBothWires(t, testMemorySummariesComeFromModel)
}

func testMemorySummariesComeFromModel(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	p := on.NewProvider(t, apptest.TextAnswer("Noted."), apptest.TextAnswer("Done."),
		apptest.TextAnswer("- The metrics endpoint is on 9137, for the dashboards.")) // no more answers
	home := p.Home(t)
	c := apptest.StartServer(t, home, "-c", "memory.summarize_on_prune=true", "-c", "memory.summarizer=model")
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "never"})
	c.Turn(thread, "The metrics endpoint listens on port 9137.")
	c.Turn(thread, "And now the parser, please.")
	for _, index := range []int{1, 3} {
		c.Call("context/setInclusion", apptest.Object{"threadId": thread, "indices": []int{index}, "included": false})
		c.UntilMethod("memory/updated")
	}
	require.Contains(t, p.Requests()[2].Body, "port 9137")
	require.NotContains(t, p.Requests()[2].Body, "parser")
	var page protocol.MemoryListResponse
	require.NoError(t, json.Unmarshal(c.Call("memory/list", apptest.Object{"sessionId": thread}), &page))
	require.Len(t, page.Data, 2)
	require.Contains(t, page.Data[0].Text, "parser", "made without the model")
	require.Equal(t, "- The metrics endpoint is on 9137, for the dashboards.", page.Data[1].Text)
	require.Equal(t, []string{"r6"}, page.Data[1].ItemIDs)
	c.Close()
}

// TestMemoryModeIsKept keeps the mode over a restart, also for threads that are not loaded.
func TestMemoryModeIsKept(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, countingAnswers(9)...)
	home := p.Home(t)
	c := apptest.StartServer(t, home, apptest.MemoryFlags...)
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "never"})
	c.RunTurns(thread, 2)
	c.Turn(thread, "The metrics endpoint listens on port 9137.")
	require.Contains(t, c.CallRejected("thread/memoryMode/set",
		apptest.Object{"threadId": thread, "mode": "polluted"}).Message,
		"polluted")
	require.Contains(t, c.CallRejected("thread/memoryMode/set", apptest.Object{"threadId": thread}).Message, "mode")
	require.Contains(t, c.CallRejected("thread/memoryMode/set",
		apptest.Object{"threadId": "01990000-0000-7000-8000-000000000000", "mode": "enabled"}).Message, "no rollout found")
	c.Kill()
	c = apptest.StartServer(t, home, apptest.MemoryFlags...)
	c.Initialize()
	c.Call("thread/memoryMode/set", apptest.Object{"threadId": thread, "mode": "disabled"})
	c.Kill()
	c = apptest.StartServer(t, home, apptest.MemoryFlags...)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": thread, "excludeTurns": true})
	c.Call("thread/context/trim", apptest.Object{"threadId": thread, "keepLastNTurns": 1})
	c.Call("thread/memoryMode/set", apptest.Object{"threadId": thread, "mode": "enabled"})
	c.Call("thread/context/trim", apptest.Object{"threadId": thread, "keepLastNTurns": 0})
	c.UntilMethod("memory/updated")
	var page protocol.MemoryListResponse
	require.NoError(t, json.Unmarshal(c.Call("memory/list", apptest.Object{}), &page))
	require.Len(t, page.Data, 1, "for the last turn only")
	require.Contains(t, page.Data[0].Text, "9137")
	c.Close()
}
