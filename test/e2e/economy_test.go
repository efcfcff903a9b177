package e2e

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestAutomaticEditsKeepThePrefix lets the server take out an output that ran again. After the edit each request
// begins with the one before, byte for byte, also after a restart. One undo brings the output back for good.
func TestAutomaticEditsKeepThePrefix(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, reporting(1500, apptest.ShellAnswer("c1", "seq 1 3000")),
		reporting(9500, apptest.ShellAnswer("c2", "seq 1 3000")), reporting(9600, apptest.TextAnswer("Counted.")),
		reporting(9700, apptest.TextAnswer("Two.")), reporting(9800, apptest.TextAnswer("Three.")),
		reporting(17800, apptest.TextAnswer("Four.")), reporting(17900, apptest.TextAnswer("Five.")))
	home := p.Home(t)
	settings := []string{"-c", "context.economy.mode=auto", "-c", "context.economy.keep_last_outputs=1"}
	c := apptest.StartServer(t, home, settings...)
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "never", "sandbox": "danger-full-access"})
	c.Turn(thread, "Count.")
	edits := c.CallJSON("context/listEdits", apptest.Object{"threadId": thread})
	require.Equal(t, int64(1), edits.Get("edits.#").Int(), edits.Raw)
	require.Contains(t, edits.Get("edits.0.reason").Str, "economy: ")
	c.Turn(thread, "Again.")
	c.Close()

	c = apptest.StartServer(t, home, settings...)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": thread})
	require.Equal(t, edits.Raw, c.CallJSON("context/listEdits", apptest.Object{"threadId": thread}).Raw)
	c.Turn(thread, "And again.")
	requests := p.Requests()
	require.Len(t, requests, 5)
	require.Regexp(t, `^\[output excluded from context: \d+ tokens; it ran again later; \$ recall r\d+\]$`,
		outputOf(t, requests[2], "c1"))
	require.NotContains(t, requests[2].ToolNames(), "recall", "the shell has it")
	for i := 3; i < 5; i++ {
		require.Equal(t, rawMessages(requests[i-1]), rawMessages(requests[i])[:len(requests[i-1].Messages)], i)
	}

	c.Call("context/undo", apptest.Object{"threadId": thread})
	for _, text := range []string{"Bring it back.", "Still there?"} {
		c.Turn(thread, text)
		last := p.Requests()[len(p.Requests())-1]
		require.True(t, strings.HasSuffix(strings.TrimSpace(outputOf(t, last, "c1")), "\n3000"))
	}
	c.Close()
}

// TestTheShellRecallsOutputs lets the model run the command of a placeholder. It includes the output again.
// From the first compaction on, which empties the cache anyway, the model also has the tool.
func TestTheShellRecallsOutputs(t *testing.T) {
	t.Parallel()
	var p *apptest.Provider
	id := ""
	recall := func(w io.Writer) { // the id is in the request that it answers
		requests := p.Requests()
		_, named, _ := strings.Cut(outputOf(t, requests[len(requests)-1], "c1"), "$ recall ")
		id = strings.TrimSuffix(named, "]")
		apptest.ShellAnswer("c3", "recall "+id)(w)
	}
	p = apptest.NewProvider(t, reporting(1500, apptest.ShellAnswer("c1", "seq 1 3000")),
		reporting(9500, apptest.ShellAnswer("c2", "seq 1 3000")), reporting(9600, apptest.TextAnswer("Counted.")),
		reporting(9700, recall), reporting(18000, apptest.TextAnswer("Read.")),
		reporting(3000, apptest.TextAnswer("Found.")))
	c := apptest.StartServer(t, p.Home(t), "-c", "context.economy.mode=auto", "-c", "context.economy.keep_last_outputs=1")
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "never", "sandbox": "danger-full-access"})
	c.Turn(thread, "Count.")
	c.Turn(thread, "What was in the first output?")
	requests := p.Requests()
	require.Regexp(t, `\$ recall r\d+\]$`, outputOf(t, requests[3], "c1"))
	require.Equal(t, id+" is in the conversation again, at its old position.", outputOf(t, requests[4], "c3"))
	require.True(t, strings.HasSuffix(strings.TrimSpace(outputOf(t, requests[4], "c1")), "\n3000"))

	c.Call("thread/compact/start", apptest.Object{"threadId": thread, "strategy": "local"})
	c.UntilMethod("turn/completed")
	c.Turn(thread, "Go on.")
	requests = p.Requests()
	require.NotContains(t, requests[4].ToolNames(), "recall")
	require.Contains(t, requests[len(requests)-1].ToolNames(), "recall")
	c.Close()
}

// reporting returns an answer whose provider reports tokens of the prompt, and no cache.
func reporting(tokens int, answer func(w io.Writer)) func(w io.Writer) {
	return func(w io.Writer) {
		fmt.Fprintf(w, `data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":5,"total_tokens":%d}}`+"\n\n",
			tokens, tokens+5)
		answer(w)
	}
}

func rawMessages(r apptest.ChatRequest) (all []string) {
	for _, m := range r.Messages {
		all = append(all, string(m))
	}
	return all
}
