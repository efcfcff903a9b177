package e2e

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
	"appserver/test/sample"
)

// sentText returns the messages and the tools of a recorded request, byte for byte.
func sentText(body string) string {
	parts := []string{}
	if text := gjson.Get(body, "instructions"); text.Exists() {
		parts = append(parts, "system "+text.Str)
	}
	for _, list := range []string{"messages", "input", "tools"} {
		for _, part := range gjson.Get(body, list).Array() {
			parts = append(parts, part.Raw)
		}
	}
	return strings.Join(parts, "\n")
}

// promptText returns a prompt in the form of sentText.
func promptText(p *protocol.ContextGetPromptResponse, on apptest.WireAPI) string {
	parts := []string{}
	for i, m := range p.Messages {
		if i == 0 && on == apptest.ResponsesWire {
			parts = append(parts, "system "+gjson.GetBytes(m, "content.0.text").Str)
			continue
		}
		parts = append(parts, string(m))
	}
	return strings.Join(append(parts, apptest.RawStrings(p.Tools)...), "\n")
}

// pastRequests returns the model requests of a thread, oldest first.
func pastRequests(c *apptest.Client, thread string) []protocol.ModelRequestUsage {
	c.T.Helper()
	var list protocol.ThreadUsageListResponse
	require.NoError(c.T, json.Unmarshal(c.Call("thread/usage/list", apptest.Object{"threadId": thread}), &list))
	require.Equal(c.T, len(list.Data), list.Total.Requests)
	slices.Reverse(list.Data)
	return list.Data
}

// promptWith returns the result of context/getPrompt with further params.
func promptWith(c *apptest.Client, thread string, more apptest.Object) (p protocol.ContextGetPromptResponse) {
	c.T.Helper()
	more["threadId"] = thread
	require.NoError(c.T, json.Unmarshal(c.Call("context/getPrompt", more), &p))
	return p
}

// TestPastRequestsAreRebuiltByteForByte has a conversation with tools, edits, a steer, another model, a crash, a
// trim, compactions and a review. Every request that the provider recorded is rebuilt from the rollout.
func TestPastRequestsAreRebuiltByteForByte(t *testing.T) {
	sample.Long(t)
	for _, on := range []apptest.WireAPI{apptest.ChatWire, apptest.ResponsesWire} {
		t.Run(string(on), func(t *testing.T) { testPastRequests(t, on) })
	}
}

func testPastRequests(t *testing.T, on apptest.WireAPI) {
	begun := make(chan bool)
	steered := make(chan bool)
	p := on.NewProvider(t,
		reasoningAnswer("thought", "call_1", "echo some output that is long enough to replace"),
		apptest.TextAnswer("answer 1"),
		apptest.TextAnswer("answer 2"),
		func(w io.Writer) { close(begun); <-steered }, apptest.TextAnswer("answer 3"),
		apptest.ShellAnswer("call_2", "seq 3"), apptest.TextAnswer("answer 4"),
		apptest.TextAnswer("answer 5"), apptest.TextAnswer("answer 6"),
		apptest.TextAnswer("a summary of the work that was done so far"), apptest.TextAnswer("answer 7"),
		apptest.ShellAnswer("call_3", "echo reviewed"), apptest.TextAnswer("no findings"),
		apptest.TextAnswer("a summary that is only a draft"))
	home := p.Home(t)
	c := apptest.StartServer(t, home, withoutCheckpoints...)
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "question 1")
	c.Turn(thread, "question 2")
	items := c.ContextList(thread)
	output := apptest.FindItems(items, protocol.CategoryToolOutput, "")[0]
	answer := apptest.FindItems(items, protocol.CategoryAssistantMessage, "answer 2")[0]
	c.Call("context/replace", apptest.Object{"threadId": thread, "id": output, "text": "short"})
	c.Call("context/setInclusion", apptest.Object{"threadId": thread, "ids": []string{answer}, "included": false})

	turn := c.BeginTurn(thread, "question 3")
	<-begun
	c.Call("turn/steer",
		apptest.Object{"threadId": thread, "expectedTurnId": turn, "input": apptest.TextInput("or rather this")})
	close(steered)
	require.Equal(t, "completed", c.AwaitTurn().Status)
	c.Call("turn/start", apptest.Object{"threadId": thread, "input": apptest.TextInput("question 4"), "model": "gpt-5"})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	c.Call("context/undo", apptest.Object{"threadId": thread})
	c.Kill()

	c = apptest.StartServer(t, home, withoutCheckpoints...)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": thread, "excludeTurns": true})
	c.Turn(thread, "question 5")
	c.Call("thread/context/trim", apptest.Object{"threadId": thread, "keepLastNTurns": 3})
	c.Turn(thread, "question 6")
	c.Call("thread/compact/start", apptest.Object{"threadId": thread, "strategy": "summary"})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	c.Turn(thread, "question 7")
	c.Call("review/start", apptest.Object{"threadId": thread, "target": apptest.Object{"type": "uncommittedChanges"}})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	c.Call("thread/compact/propose", apptest.Object{"threadId": thread, "strategy": "summary"})
	fork := c.CallThread("thread/fork", apptest.Object{"threadId": thread}).ID

	requirePastRequests(t, c, p, thread, on)
	requirePastRequests(t, c, p, fork, on)
	c.Kill()
	c = apptest.StartServer(t, home, withoutCheckpoints...)
	c.Initialize()
	requirePastRequests(t, c, p, thread, on)
	requireRehearsed(t, c, thread)

	changeRollout(t, home, fork, "answer 1", "answer X")
	for i, r := range pastRequests(c, fork) {
		prompt := promptWith(c, fork, apptest.Object{"requestId": r.RequestID})
		if i <= 2 { // the third request is the first one with the text
			require.Equal(t, i < 2, *prompt.Exact, "%d %v", i, r)
		}
		require.Equal(t, !*prompt.Exact, prompt.Reason != nil)
	}
}

// changeRollout replaces a text in the rollout of a thread.
func changeRollout(t *testing.T, home, thread, old, new string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(home, "sessions", "*", "*", "*", "*"+thread+".jsonl"))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	text, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(paths[0], []byte(strings.ReplaceAll(string(text), old, new)), 0o600))
}

// requireRehearsed compares the prompts of edits and of revisions with those after the edits were made.
func requireRehearsed(t *testing.T, c *apptest.Client, thread string) {
	t.Helper()
	before := apptest.PromptOf(c, thread)
	list := c.ContextList(thread)
	edits := []apptest.Object{{"type": "prune", "categories": []string{"assistantMessage"}}}
	told := promptWith(c, thread, apptest.Object{"edits": edits})
	require.Equal(t, before, apptest.PromptOf(c, thread))
	c.Call("context/apply", apptest.Object{"threadId": thread, "edits": edits})
	after := promptWith(c, thread, apptest.Object{})
	require.Equal(t, apptest.RawStrings(after.Messages), apptest.RawStrings(told.Messages))
	require.NotEqual(t, before, apptest.PromptOf(c, thread))
	named := slices.Concat(after.Sources...)
	require.Len(t, after.Sources, len(after.Messages))
	for _, item := range c.ContextList(thread).Items {
		require.Equal(t, item.InPrompt, slices.Contains(named, item.ID), "%v", item)
	}
	told = promptWith(c, thread, apptest.Object{"revision": list.Revision})
	require.Equal(t, list.Revision, told.Revision)
	c.Call("context/undo", apptest.Object{"threadId": thread})
	require.Equal(t, apptest.PromptOf(c, thread), before)
	after = promptWith(c, thread, apptest.Object{})
	require.Equal(t, apptest.RawStrings(after.Messages), apptest.RawStrings(told.Messages))
}

// requirePastRequests compares all past requests of a thread with those that the provider recorded.
func requirePastRequests(
	t *testing.T, c *apptest.Client, p *apptest.Provider, thread string, on apptest.WireAPI,
) {
	t.Helper()
	want, got, kinds := []string{}, []string{}, []string{}
	for _, r := range p.Requests() {
		want = append(want, sentText(r.Body))
	}
	for _, r := range pastRequests(c, thread) {
		prompt := promptWith(c, thread, apptest.Object{"requestId": r.RequestID})
		require.Nil(t, prompt.Reason, "%v", r)
		require.True(t, *prompt.Exact)
		require.Len(t, prompt.Sources, len(prompt.Messages))
		require.Equal(t, r.Kind == protocol.RequestReview, len(slices.Concat(prompt.Sources...)) == 0)
		require.Equal(t, r.Model, prompt.Model)
		got, kinds = append(got, promptText(&prompt, on)), append(kinds, r.Kind)
		require.Equal(t, len(got) == 5, r.Error != nil, "the request that turn/steer cancelled")
	}
	require.Len(t, got, len(want))
	require.ElementsMatch(t, want, got)
	require.Equal(t, "turn turn turn turn turn turn turn turn turn compaction turn review review compaction",
		strings.Join(kinds, " "))
}

// TestPastRequestsHaveNoSecrets sends secrets to the model, in an input and in the system prompt. The rebuilt
// request lacks them, is not called exact, and no file has them.
func TestPastRequestsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home)
	id := c.StartThread(apptest.Object{"cwd": t.TempDir(), "sandbox": "danger-full-access", "approvalPolicy": "never",
		"developerInstructions": "The token is " + githubToken})
	c.Turn(id, "take "+githubToken)
	c.Close()
	require.Empty(t, filesWith(t, home, githubToken))

	c = apptest.StartOffline(t, home)
	for _, r := range pastRequests(c, id) {
		prompt := promptWith(c, id, apptest.Object{"requestId": r.RequestID})
		require.False(t, *prompt.Exact)
		require.Contains(t, *prompt.Reason, "secrets")
		text := strings.Join(apptest.RawStrings(prompt.Messages), "\n")
		require.Contains(t, text, "The token is ")
		require.NotContains(t, text, githubToken)
	}
	c.Close()
}
