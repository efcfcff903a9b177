package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// contextList is the list of context items, as the server gives it.
func (c *client) contextList(thread string) (list protocol.ContextGetItemsResponse) {
	c.t.Helper()
	require.NoError(c.t, json.Unmarshal(c.call("context/getItems", object{"threadId": thread}), &list))
	return list
}

// itemsLike are the ids of items of a category whose previews contain a text.
func itemsLike(list protocol.ContextGetItemsResponse, category protocol.ContextCategory, text string) (ids []string) {
	for _, item := range list.Items {
		if item.Category == category && strings.Contains(item.Preview, text) {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

// reasons answers with a reasoning and a call of the shell.
func reasons(thought, id, script string) func(w io.Writer) {
	call := callsShell(id, script)
	return func(w io.Writer) {
		fmt.Fprint(w, streamed(object{"role": "assistant", "reasoning_content": thought}, nil))
		call(w)
	}
}

// work is a conversation of five turns with a tool call each, after which the model
// says "more" as often as it is asked.
func work(more int) (answers []func(w io.Writer)) {
	for i := range 5 {
		script := fmt.Sprintf("echo output %d", i)
		if i == 1 {
			script = "seq 1 2000"
		}
		answers = append(answers, reasons(fmt.Sprintf("thought %d", i), fmt.Sprintf("call_%d", i), script), says(fmt.Sprintf("answer %d", i)))
	}
	for range more {
		answers = append(answers, says("more"))
	}
	return answers
}

// fiveTurns runs the conversation.
func fiveTurns(c *client) (thread string) {
	thread = c.startThread(object{"cwd": "/", "sandbox": "danger-full-access", "approvalPolicy": "never"})
	for i := range 5 {
		require.Equal(c.t, "completed", c.turn(thread, fmt.Sprintf("question %d", i)).Status)
	}
	return thread
}

// nextRequest asks once more and gives the request up to the new question.
func (p *provider) nextRequest(c *client, thread string) []string {
	c.t.Helper()
	require.Equal(c.t, "completed", c.turn(thread, "again").Status)
	asked := p.asked()
	messages := raws(asked[len(asked)-1].Messages)
	return messages[:len(messages)-1]
}

// forgetLast takes the last turn back out of the list, so that the next request is the same.
func (c *client) forgetLast(thread string) {
	c.t.Helper()
	list := c.contextList(thread)
	n := len(list.Items)
	c.call("context/pruneByIndices", object{"threadId": thread, "indices": []int{n - 2, n - 1}})
}

// TestBinaryContextControl is the main job of context control: dead ends are taken out
// of a conversation of five turns, the provider is not sent them, no crash loses that,
// and everything comes back. docs/transcripts/context.txt shows it; -update rewrites it.
func TestBinaryContextControl(t *testing.T) { onBothWires(t, binaryContextControl) }

func binaryContextControl(t *testing.T, on wireAPI) {
	t.Parallel()
	p := on.provider(t, work(4)...)
	home := p.home(t)
	r := &recorder{t: t, home: home}
	start := func() *client {
		c := dial(t, r.command(home))
		c.onLine = r.line
		c.initialize()
		return c
	}
	c := start()
	r.say("Five turns with a tool call each; the second one prints 2,000 lines.")
	thread := fiveTurns(c)
	whole := p.nextRequest(c, thread)
	c.forgetLast(thread)
	r.request("The provider was sent", whole)

	takeOut(t, r, c, thread)
	pruned := promptOf(c, thread)
	checkPruned(t, p, c, thread, pruned)
	r.request("The next request, as the provider recorded it", pruned)
	c.forgetLast(thread)
	r.say("kill -9; another server resumes; the same request.")
	c.kill()

	c = start()
	c.call("thread/resume", object{"threadId": thread, "excludeTurns": true})
	require.Equal(t, pruned, p.nextRequest(c, thread), "the same request after a crash")
	c.forgetLast(thread)
	r.say("Everything is undone; the original request, byte for byte.")
	undoAll(c, thread)
	request := p.nextRequest(c, thread)
	require.Equal(t, whole, request[:len(whole)], "the original request, byte for byte")
	c.close()
	if on == chatWire {
		r.compare("../../docs/transcripts/context.txt")
	}
}

// takeOut takes items out of the conversation of fiveTurns, in every way.
func takeOut(t *testing.T, r *recorder, c *client, thread string) {
	t.Helper()
	r.say("What is in the context, and what each item costs.")
	list := c.contextList(thread)
	require.Equal(t, 1+5*5, list.Total, "surroundings; question, thought, call, output, answer")
	r.list(list)
	big := itemsLike(list, protocol.CategoryToolOutput, "1 2 3 4")
	require.Len(t, big, 1)
	r.say("The big output is excluded, the last one pinned, reasoning and outputs of the first turn pruned.")
	c.call("context/setInclusion", object{"threadId": thread, "ids": big, "included": false})
	c.call("context/pin", object{"threadId": thread, "ids": itemsLike(list, protocol.CategoryToolOutput, "output 4"), "pinned": true})
	c.call("context/prune", object{"threadId": thread, "categories": []string{"reasoning", "tool_output"}, "range": object{"firstTurns": object{"count": 1}}})
	r.say("A call is deleted, after a look at what that would save.")
	var seen protocol.ContextPreviewResponse
	call := itemsLike(list, protocol.CategoryToolCall, "output 2")
	require.NoError(t, json.Unmarshal(c.call("context/preview", object{"threadId": thread, "edits": []object{{"type": "pruneByIndices", "ids": call}}}), &seen))
	require.Less(t, seen.After.PromptTokens, seen.Before.PromptTokens)
	require.Equal(t, promptTokens(c, thread), seen.Before.PromptTokens, "a preview changes nothing")
	c.call("context/pruneByIndices", object{"threadId": thread, "ids": call})
	require.Equal(t, seen.After.PromptTokens, promptTokens(c, thread))
}

// checkPruned holds what the provider is sent against what was taken out.
func checkPruned(t *testing.T, p *provider, c *client, thread string, pruned []string) {
	t.Helper()
	require.Equal(t, pruned, p.nextRequest(c, thread), "context/getPrompt shows the next request")
	text := strings.Join(pruned, "\n")
	require.NotContains(t, text, "1999", "the big output")
	require.Regexp(t, `\[output excluded from context: \d{4} tokens\]`, text)
	require.NotContains(t, text, "output 0\\n", "pruned with the first turn")
	require.NotContains(t, text, "call_2", "the deleted call")
	require.NotContains(t, text, "output 2", "goes with its output")
	for _, kept := range []string{"question 2", "answer 2", "output 3", "output 4", "answer 1"} {
		require.Contains(t, text, kept)
	}
}

// promptOf are the messages of the next request, rewritten as those of a chatRequest.
func promptOf(c *client, thread string) []string {
	c.t.Helper()
	var prompt protocol.ContextGetPromptResponse
	require.NoError(c.t, json.Unmarshal(c.call("context/getPrompt", object{"threadId": thread}), &prompt))
	return raws(shownAsMessages(prompt.Messages))
}

func promptTokens(c *client, thread string) int64 {
	c.t.Helper()
	var usage protocol.ContextGetUsageResponse
	require.NoError(c.t, json.Unmarshal(c.call("context/getUsage", object{"threadId": thread}), &usage))
	return usage.Usage.PromptTokens
}

// undoAll takes every edit back.
func undoAll(c *client, thread string) {
	c.t.Helper()
	for {
		answer := c.request("context/undo", object{"threadId": thread})
		if answer.Error != nil {
			require.Equal(c.t, "nothingToUndo", answer.Error.Data.Kind)
			return
		}
	}
}

// TestBinaryRewritesOnUnload ends the server with items out of the context: the rollout
// then holds what a plain reader sends to a model, the backup everything, and both
// together the thread as it was. Restore brings it all back into the file.
func TestBinaryRewritesOnUnload(t *testing.T) { onBothWires(t, binaryRewritesOnUnload) }

func binaryRewritesOnUnload(t *testing.T, on wireAPI) {
	t.Parallel()
	p := on.provider(t, work(0)...)
	home := p.home(t)
	c := startServer(t, home)
	c.initialize()
	thread := fiveTurns(c)
	path := c.readThread(thread).Path
	whole := promptOf(c, thread)
	c.call("context/setInclusion", object{"threadId": thread, "ids": itemsLike(c.contextList(thread), protocol.CategoryToolOutput, "1 2 3"), "included": false})
	before := c.contextList(thread)
	c.close()
	plain, backup := responseItems(t, path), responseItems(t, path+".bak")
	require.NotContains(t, plain, "1999")
	require.Contains(t, plain, "output excluded from context")
	require.Contains(t, backup, "1999")

	c = startServer(t, home)
	c.initialize()
	c.call("thread/resume", object{"threadId": thread})
	after := c.contextList(thread)
	require.Equal(t, before.Items, after.Items, "the excluded item is listed as excluded")
	c.call("context/restore", object{"threadId": thread, "from": "backup"})
	require.Equal(t, whole, promptOf(c, thread))
	c.close()
	require.Contains(t, responseItems(t, path), "1999", "all back")
	require.NotContains(t, responseItems(t, path), "output excluded")
}

// responseItems are the lines of a rollout that hold what the model sees.
func responseItems(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		require.True(t, json.Valid([]byte(line)), "every line is JSON for those who take it for that: %q", line)
		if strings.Contains(line, `"type":"response_item"`) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestBinaryEditsInMidTurn excludes an output while the model answers, and while a
// command runs: the request in flight is what it was, the next one of the turn is not.
func TestBinaryEditsInMidTurn(t *testing.T) { onBothWires(t, binaryEditsInMidTurn) }

func binaryEditsInMidTurn(t *testing.T, on wireAPI) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "go")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	p := on.provider(t, callsShell("call_a", "echo first output"), callsShell("call_b", "echo waits; cat "+fifo), says("done"))
	c := startServer(t, p.home(t))
	c.initialize()
	thread := c.startTrusted()
	c.beginTurn(thread, "begin")
	c.untilOutput("waits\n")
	ids := itemsLike(c.contextList(thread), protocol.CategoryToolOutput, "first output")
	require.Len(t, ids, 1)
	c.call("context/setInclusion", object{"threadId": thread, "ids": ids, "included": false})
	require.NoError(t, os.WriteFile(fifo, []byte("go\n"), 0))
	require.Equal(t, "completed", c.awaitTurn().Status)
	asked := p.asked()
	require.Len(t, asked, 3)
	require.Contains(t, asked[1].Body, "first output", "the request in flight")
	require.NotContains(t, strings.Join(raws(asked[2].Messages), "\n"), `first output\n"`)
	require.Contains(t, asked[2].Body, "output excluded from context")
	c.close()
}
