package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// newBranchRepository creates a repository with a branch that is one commit ahead of main, and an untracked
// file.
func newBranchRepository(t *testing.T) (dir, base string) {
	t.Helper()
	dir = t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git",
			append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	git("init")
	write("a.txt", "one\n")
	git("add", ".")
	git("commit", "-m", "one")
	base = git("rev-parse", "HEAD")
	git("checkout", "-b", "work")
	write("a.txt", "two\n")
	git("commit", "-am", "two")
	write("new.txt", "untracked\n")
	return dir, base
}

// writeReviewScript writes a script for the offline provider. It runs commands and then returns a result.
func writeReviewScript(t *testing.T, home string, match string, commands []string, result string) {
	t.Helper()
	steps := []apptest.Object{}
	for _, command := range commands {
		steps = append(steps,
			apptest.Object{"match": match,
				"toolCalls": []apptest.Object{{"name": "shell", "arguments": apptest.Object{"command": command}}}})
	}
	script, err := json.Marshal(apptest.Object{"steps": append(steps, apptest.Object{"match": match, "text": result})})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(home, "script.json"), script, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"),
		[]byte("[model_providers.offline]\nscript = \"script.json\"\n"), 0o600))
}

const oneFinding = `{"findings":[{"title":"[P1] Two is wrong","body":"It was one.","confidence_score":0.9,"priority":1,` +
	`"code_location":{"absolute_file_path":"/a.txt","line_range":{"start":1,"end":1}}}],"overall_correctness":"patch is incorrect","overall_explanation":"No.","overall_confidence_score":0.9}`

// TestReviewOfBranch runs commands in a repository, from the merge base. The thread has the result
// only, also after a reload.
// The time of git is limited, so no test runs beside it.
func TestReviewOfBranch(t *testing.T) {
	home := t.TempDir()
	dir, base := newBranchRepository(t)
	writeReviewScript(t, home, base, []string{"git diff " + base, "git status --porcelain"}, oneFinding)
	c := apptest.StartOffline(t, home)
	c.OnRequest = func(m apptest.Message) any {
		require.Fail(t, "a review requested an approval", m.Line)
		return nil
	}
	id := c.StartThread(apptest.Object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "untrusted"})
	answer := gjson.ParseBytes(c.Call("review/start",
		apptest.Object{"threadId": id, "target": apptest.Object{"type": "baseBranch", "branch": "main"}}))
	require.Equal(t, id, answer.Get("reviewThreadId").Str)
	require.Equal(t, "changes against 'main'", answer.Get("turn.items.0.content.0.text").Str)
	require.Equal(t, "completed", c.AwaitTurn().Status)

	items := strings.Join(completedItems(t, c.Seen), "\n")
	require.Contains(t, items, "+two")
	require.Contains(t, items, "?? new.txt")
	const text = "No.\n\nReview comment:\n\n- [P1] Two is wrong — /a.txt:1-1\n  It was one."
	kinds := func(v apptest.ThreadView) (kinds []string) {
		for _, item := range v.Turns[0].Items {
			kinds = append(kinds, gjson.GetBytes(item, "type").Str)
			if kinds[len(kinds)-1] == "exitedReviewMode" {
				require.Equal(t, text, gjson.GetBytes(item, "review").Str)
			}
		}
		return kinds
	}
	want := []string{"enteredReviewMode", "userMessage", "commandExecution", "commandExecution", "exitedReviewMode",
		"agentMessage"}
	require.Equal(t, want, kinds(c.ReadThread(id)))
	received := func(c *apptest.Client) string {
		return gjson.GetBytes(c.Call("context/getPrompt", apptest.Object{"threadId": id}), "messages").Raw
	}
	before := received(c)
	require.Contains(t, before, "Two is wrong")
	require.NotContains(t, before, "git status")
	c.Close()

	c = apptest.StartOffline(t, home)
	require.Equal(t, want, kinds(c.ReadThread(id)))
	c.Call("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, before, received(c))
	c.Close()
}

// TestReviewByProvider reviews with a command by each API. The next request has the result, but not
// the reviewer's steps.
func TestReviewByProvider(t *testing.T) { apptest.OnBothWires(t, testReviewByProvider) }

func testReviewByProvider(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	p := on.NewProvider(t, apptest.TextAnswer("hello"),
		reasoningAnswer("a thought of the reviewer", "call_1", "echo found by the reviewer"), apptest.TextAnswer(oneFinding),
		apptest.TextAnswer("fixed"))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	id := c.StartTrusted()
	c.Turn(id, "Hello.")
	c.Call("review/start",
		apptest.Object{"threadId": id, "target": apptest.Object{"type": "custom", "instructions": "Look for twos."}})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	requests := p.Requests()
	require.NotContains(t, strings.Join(apptest.RawStrings(requests[1].Messages), "\n"), "Hello.",
		"the reviewer has its own conversation")
	require.Contains(t, requests[2].LastMessage(t).Content, "found by the reviewer")
	require.Equal(t, on == apptest.ResponsesWire, strings.Contains(requests[2].Body, "SEALED a thought of the reviewer"))
	sent := strings.Join(apptest.PromptOf(c, id), "\n")
	require.Contains(t, sent, "Two is wrong")
	require.NotContains(t, sent, "found by the reviewer")
	require.Equal(t, apptest.PromptOf(c, id), nextRequest(p, c, id))
	require.NotContains(t, p.Requests()[3].Body, "a thought of the reviewer")
	c.Close()
}

// TestInterruptedReviewLeavesNothing interrupts a review while a command runs. No process is left,
// and the thread continues.
func TestInterruptedReviewLeavesNothing(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeReviewScript(t, home, "Look", []string{"echo begun; sleep 1000"}, "never")
	c := apptest.StartOffline(t, home)
	id := c.StartTrusted()
	turn := gjson.GetBytes(c.Call("review/start",
		apptest.Object{"threadId": id, "target": apptest.Object{"type": "custom", "instructions": "Look."}}), "turn.id").Str
	c.UntilOutput("begun\n")
	for _, method := range []string{"turn/start", "turn/steer"} {
		refusal := c.CallRejected(method,
			apptest.Object{"threadId": id, "expectedTurnId": turn, "input": apptest.TextInput("more")})
		require.Equal(t, "review", gjson.GetBytes(refusal.Data.CodexErrorInfo, "activeTurnNotSteerable.turnKind").Str)
	}
	c.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turn})
	require.Equal(t, "interrupted", c.AwaitTurn().Status)
	shown := c.ReadThread(id).Turns[0].Items
	require.Equal(t, "The review ended without a result.", gjson.GetBytes(shown[len(shown)-1], "text").Str)
	c.Close()
}
