package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
	"appserver/test/posix"
)

// reasoningAnswer returns an answer with reasoning and a call of the shell.
func reasoningAnswer(thought, id, script string) func(w io.Writer) {
	call := apptest.ShellAnswer(id, script)
	return func(w io.Writer) {
		fmt.Fprint(w, apptest.ChatChunk(apptest.Object{"role": "assistant", "reasoning_content": thought}, nil))
		call(w)
	}
}

// fiveTurnAnswers returns the answers of five turns with one tool call each, and then "more" the given number
// of times.
func fiveTurnAnswers(more int) (answers []func(w io.Writer)) {
	for i := range 5 {
		script := fmt.Sprintf("echo output %d", i)
		if i == 1 {
			script = "seq 1 2000"
		}
		answers = append(answers, reasoningAnswer(fmt.Sprintf("thought %d", i), fmt.Sprintf("call_%d", i), script),
			apptest.TextAnswer(fmt.Sprintf("answer %d", i)))
	}
	for range more {
		answers = append(answers, apptest.TextAnswer("more"))
	}
	return answers
}

// bigOutput is a part of the output of the second turn, in JSON. Random ids can contain a shorter one.
const bigOutput = `\n1998\n1999\n`

// withoutCheckpoints are the flags of a server whose threads work in "/". It has too many files for
// a checkpoint, and counting them takes longer than the rest of a test.
var withoutCheckpoints = []string{"-c", "checkpoints.enabled=false"}

// fiveTurns runs the conversation.
func fiveTurns(c *apptest.Client) (thread string) {
	thread = c.StartThread(apptest.Object{"cwd": "/", "sandbox": "danger-full-access", "approvalPolicy": "never"})
	for i := range 5 {
		require.Equal(c.T, "completed", c.Turn(thread, fmt.Sprintf("question %d", i)).Status)
	}
	return thread
}

// nextRequest runs a turn and returns its request up to the new question.
func nextRequest(p *apptest.Provider, c *apptest.Client, thread string) []string {
	c.T.Helper()
	require.Equal(c.T, "completed", c.Turn(thread, "again").Status)
	requests := p.Requests()
	messages := apptest.RawStrings(requests[len(requests)-1].Messages)
	return messages[:len(messages)-1]
}

// forgetLast deletes the last turn from the context, so that the next request is the same.
func forgetLast(c *apptest.Client, thread string) {
	c.T.Helper()
	list := c.ContextList(thread)
	n := len(list.Items)
	c.Call("context/pruneByIndices", apptest.Object{"threadId": thread, "indices": []int{n - 2, n - 1}})
}

// TestContextControl excludes dead ends of a conversation of five turns. The provider does not get
// them, a crash keeps that state, and everything can be restored. docs/transcripts/context.txt
// shows the conversation; -update rewrites it.
func TestContextControl(t *testing.T) { apptest.OnBothWires(t, testContextControl) }

func testContextControl(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	p := on.NewProvider(t, fiveTurnAnswers(4)...)
	home := p.Home(t)
	r := &apptest.Recorder{T: t, Home: home}
	start := func() *apptest.Client {
		cmd := r.Command(home)
		cmd.Args = append(append(cmd.Args, withoutCheckpoints...), "-c", "model_context_window=272000")
		c := apptest.StartProcess(t, cmd)
		c.OnLine = r.Line
		c.Initialize()
		return c
	}
	c := start()
	r.Heading("Five turns with a tool call each; the second one prints 2,000 lines.")
	thread := fiveTurns(c)
	all := nextRequest(p, c, thread)
	forgetLast(c, thread)
	r.Request("The request to the provider", all)

	pruneInEveryWay(t, r, c, thread)
	pruned := apptest.PromptOf(c, thread)
	checkPruned(t, p, c, thread, pruned)
	r.Request("The next request, as the provider recorded it", pruned)
	forgetLast(c, thread)
	r.Heading("kill -9; another server resumes; the same request.")
	c.Kill()

	c = start()
	c.Call("thread/resume", apptest.Object{"threadId": thread, "excludeTurns": true})
	require.Equal(t, pruned, nextRequest(p, c, thread), "the same request after a crash")
	forgetLast(c, thread)
	r.Heading("Everything is undone; the original request, byte for byte.")
	undoAll(c, thread)
	request := nextRequest(p, c, thread)
	require.Equal(t, all, request[:len(all)], "the original request, byte for byte")
	c.Close()
	if on == apptest.ChatWire {
		r.Compare(apptest.Root("docs/transcripts/context.txt"))
	}
}

// pruneInEveryWay excludes items of fiveTurns in every way.
func pruneInEveryWay(t *testing.T, r *apptest.Recorder, c *apptest.Client, thread string) {
	t.Helper()
	r.Heading("The context items and their prices.")
	list := c.ContextList(thread)
	require.Equal(t, 1+5*5, list.Total, "environment, then question, reasoning, call, output, answer")
	r.List(list)
	big := apptest.FindItems(list, protocol.CategoryToolOutput, "1 2 3 4")
	require.Len(t, big, 1)
	r.Heading("The big output is excluded, the last one pinned, reasoning and outputs of the first turn pruned.")
	c.Call("context/setInclusion", apptest.Object{"threadId": thread, "ids": big, "included": false})
	c.Call("context/pin",
		apptest.Object{"threadId": thread, "ids": apptest.FindItems(list, protocol.CategoryToolOutput, "output 4"),
			"pinned": true})
	c.Call("context/prune",
		apptest.Object{"threadId": thread, "categories": []string{"reasoning", "tool_output"},
			"range": apptest.Object{"firstTurns": apptest.Object{"count": 1}}})
	r.Heading("A call is deleted after a preview.")
	var seen protocol.ContextPreviewResponse
	call := apptest.FindItems(list, protocol.CategoryToolCall, "output 2")
	require.NoError(t, json.Unmarshal(c.Call("context/preview",
		apptest.Object{"threadId": thread, "edits": []apptest.Object{{"type": "pruneByIndices", "ids": call}}}), &seen))
	require.Less(t, seen.After.PromptTokens, seen.Before.PromptTokens)
	require.Equal(t, promptTokens(c, thread), seen.Before.PromptTokens, "a preview changes nothing")
	c.Call("context/pruneByIndices", apptest.Object{"threadId": thread, "ids": call})
	require.Equal(t, seen.After.PromptTokens, promptTokens(c, thread))
}

// checkPruned compares the requests with the excluded items.
func checkPruned(t *testing.T, p *apptest.Provider, c *apptest.Client, thread string, pruned []string) {
	t.Helper()
	require.Equal(t, pruned, nextRequest(p, c, thread), "context/getPrompt shows the next request")
	text := strings.Join(pruned, "\n")
	require.NotContains(t, text, bigOutput)
	require.Regexp(t, `\[output excluded from context: \d{4} tokens\]`, text)
	require.NotContains(t, text, "output 0\\n", "pruned with the first turn")
	require.NotContains(t, text, "call_2", "the call was deleted")
	require.NotContains(t, text, "output 2", "its output was deleted with it")
	for _, kept := range []string{"question 2", "answer 2", "output 3", "output 4", "answer 1"} {
		require.Contains(t, text, kept)
	}
}

func promptTokens(c *apptest.Client, thread string) int64 {
	c.T.Helper()
	var usage protocol.ContextGetUsageResponse
	require.NoError(c.T, json.Unmarshal(c.Call("context/getUsage", apptest.Object{"threadId": thread}), &usage))
	return usage.Usage.PromptTokens
}

// undoAll undoes every edit.
func undoAll(c *apptest.Client, thread string) {
	c.T.Helper()
	for {
		answer := c.Request("context/undo", apptest.Object{"threadId": thread})
		if answer.Error != nil {
			require.Equal(c.T, "nothingToUndo", answer.Error.Data.Kind)
			return
		}
	}
}

// TestUnloadRewritesRollout shuts down with excluded items. The rollout has what another program
// would send to a model, the backup has everything, and together they restore the thread. A restore
// brings all items back into the file.
func TestUnloadRewritesRollout(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesBackup)
	apptest.OnBothWires(t, testUnloadRewritesRollout)
}

func testUnloadRewritesRollout(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	p := on.NewProvider(t, fiveTurnAnswers(0)...)
	home := p.Home(t)
	c := apptest.StartServer(t, home, withoutCheckpoints...)
	c.Initialize()
	thread := fiveTurns(c)
	path := c.ReadThread(thread).Path
	all := apptest.PromptOf(c, thread)
	c.Call("context/setInclusion",
		apptest.Object{"threadId": thread,
			"ids": apptest.FindItems(c.ContextList(thread), protocol.CategoryToolOutput, "1 2 3"), "included": false})
	before := c.ContextList(thread)
	c.Close()
	plain, backup := responseItems(t, path), responseItems(t, path+".bak")
	require.NotContains(t, plain, bigOutput)
	require.Contains(t, plain, "output excluded from context")
	require.Contains(t, backup, bigOutput)

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": thread})
	after := c.ContextList(thread)
	require.Equal(t, before.Items, after.Items, "the excluded item is listed as excluded")
	c.Call("context/restore", apptest.Object{"threadId": thread, "from": "backup"})
	require.Equal(t, all, apptest.PromptOf(c, thread))
	c.Close()
	require.Contains(t, responseItems(t, path), bigOutput, "all items are included")
	require.NotContains(t, responseItems(t, path), "output excluded")
}

// responseItems returns the lines of a rollout with items of the model's input.
func responseItems(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		require.True(t, json.Valid([]byte(line)), "the line is not JSON: %q", line)
		if strings.Contains(line, `"type":"response_item"`) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestContextEditDuringTurnAppliesToNextRequest excludes an output while the model answers, and
// while a command runs. The request in flight does not change; the next one does.
func TestContextEditDuringTurnAppliesToNextRequest(t *testing.T) {
	apptest.OnBothWires(t, testContextEditDuringTurnAppliesToNextRequest)
}

func testContextEditDuringTurnAppliesToNextRequest(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "go")
	require.NoError(t, posix.Mkfifo(fifo, 0o600))
	p := on.NewProvider(t, apptest.ShellAnswer("call_a", "echo first output"),
		apptest.ShellAnswer("call_b", "echo waits; cat "+fifo), apptest.TextAnswer("done"))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	thread := c.StartTrusted()
	c.BeginTurn(thread, "begin")
	c.UntilOutput("waits\n")
	ids := apptest.FindItems(c.ContextList(thread), protocol.CategoryToolOutput, "first output")
	require.Len(t, ids, 1)
	c.Call("context/setInclusion", apptest.Object{"threadId": thread, "ids": ids, "included": false})
	require.NoError(t, os.WriteFile(fifo, []byte("go\n"), 0))
	require.Equal(t, "completed", c.AwaitTurn().Status)
	requests := p.Requests()
	require.Len(t, requests, 3)
	require.Contains(t, requests[1].Body, "first output", "the request in flight")
	require.NotContains(t, strings.Join(apptest.RawStrings(requests[2].Messages), "\n"), `first output\n"`)
	require.Contains(t, requests[2].Body, "output excluded from context")
	c.Close()
}
