package core_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/pure/history"
	"appserver/protocol"
)

// smallWindow returns a thread with tools of a server and of the client, and a model with a window of 16,000 tokens.
func smallWindow(t *testing.T, setup ...string) *machine {
	m := newMachine(t.Errorf)
	m.world.Provider.ContextWindow = new(int64(16_000))
	m.world.Compaction.Limit, m.world.Compaction.Target = 14_400, 11_000
	m.world.Tools = []core.ServerTool{{Spec: core.ToolSpec{Name: "mcp__s__t"}, Server: "s", Tool: "t",
		Namespace: "mcp__s", Approval: "approve"}}
	setup = append(setup, "start tools=`[{\"name\":\"ticket\",\"description\":\"\",\"inputSchema\":{}}]`", `turn-start "go"`)
	for _, line := range setup {
		require.NoError(t, runCommand(m, line, new(strings.Builder)))
	}
	return m
}

func answerWithCalls(m *machine, calls ...core.ToolCall) {
	for i := range calls {
		calls[i].ID = fmt.Sprintf("c%d", i)
	}
	m.take(core.ModelDone{Effect: last[core.ModelRequest](m), Answer: core.Answer{Calls: calls}})
}

// lastText returns the text of the last item of the next request.
func lastText(m *machine) string {
	items := m.thread.Prompt().Items
	return history.ContentText(items[len(items)-1])
}

func exited(output string) core.ToolResult { return core.ToolResult{ExitCode: new(0), Output: output} }

// TestOutputsTakeAFifthOfTheWindow: each kind of output is cut to a fifth of the context window, and the turn goes on.
func TestOutputsTakeAFifthOfTheWindow(t *testing.T) {
	text := "begin " + strings.Repeat("some words\n", 10_000) + " end"
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	for name, run := range map[string]func(m *machine){
		"command": func(m *machine) {
			answerWithCalls(m, core.ToolCall{Name: "shell", Arguments: `{"command":"cat big"}`})
			m.take(core.ToolDone{Effect: first[core.RunTool](m), Result: exited(text)})
		},
		"server": func(m *machine) {
			answerWithCalls(m, core.ToolCall{Name: "mcp__s__t", Arguments: `{}`})
			m.take(core.ToolCalled{Effect: last[core.CallTool](m), Result: &core.ServerToolResult{
				Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":` + string(quoted) + `}`)}}})
		},
		"structured": func(m *machine) {
			answerWithCalls(m, core.ToolCall{Name: "mcp__s__t", Arguments: `{}`})
			m.take(core.ToolCalled{Effect: last[core.CallTool](m), Result: &core.ServerToolResult{
				Structured: json.RawMessage(quoted)}})
		},
		"client": func(m *machine) {
			answerWithCalls(m, core.ToolCall{Name: "ticket", Arguments: `{}`})
			m.take(core.ClientAnswer{Request: m.thread.OpenRequests()[0], Result: json.RawMessage(
				`{"contentItems":[{"type":"inputText","text":` + string(quoted) + `}],"success":true}`)})
		},
		"own command": func(m *machine) {
			require.NoError(t, runCommand(m, "own `cat big`", new(strings.Builder)))
			m.take(core.ToolDone{Effect: first[core.RunTool](m), Result: exited(text)})
		},
	} {
		for _, bytesPerToken := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s, %d", name, bytesPerToken), func(t *testing.T) {
				m := smallWindow(t, fmt.Sprintf("tokens %d", bytesPerToken))
				run(m)
				got := lastText(m)
				require.Contains(t, got, "bytes cut ...]")
				require.LessOrEqual(t, len(got)/bytesPerToken, 16_000/5+100)
				require.Greater(t, len(got)/bytesPerToken, 16_000/5*8/10)
				require.NotZero(t, last[core.ModelRequest](m))
			})
		}
	}
}

// TestOutputsOfOneAnswerShareTheWindow: parallel calls fit into the window together.
func TestOutputsOfOneAnswerShareTheWindow(t *testing.T) {
	m := smallWindow(t)
	var all []core.ToolCall
	for range 8 {
		all = append(all, core.ToolCall{Name: "shell", Arguments: `{"command":"cat big"}`})
	}
	answerWithCalls(m, all...)
	for range all {
		m.take(core.ToolDone{Effect: first[core.RunTool](m), Result: exited(strings.Repeat("words ", 6000))})
	}
	require.NotZero(t, last[core.ModelRequest](m))
	require.Less(t, m.thread.PromptTokens(), int64(16_000*3/5))
}

// TestOutputsOfLargeWindowsKeepTheirBound: a large or unknown window changes nothing.
func TestOutputsOfLargeWindowsKeepTheirBound(t *testing.T) {
	for _, window := range []*int64{nil, new(int64(272_000))} {
		m := smallWindow(t)
		m.world.Provider.ContextWindow = window
		require.NoError(t, runCommand(m, "interrupt", new(strings.Builder)))
		for _, line := range []string{"sample-done", `turn-start "again"`} {
			require.NoError(t, runCommand(m, line, new(strings.Builder)))
		}
		answerWithCalls(m, core.ToolCall{Name: "shell", Arguments: `{"command":"cat big"}`})
		m.take(core.ToolDone{Effect: first[core.RunTool](m), Result: exited(strings.Repeat("x", 40_000))})
		require.Contains(t, lastText(m), strings.Repeat("x", 40_000))
	}
}

// TestRecallFindsWhatWasCut: the words of the middle of an output are found although the output is in the conversation.
func TestRecallFindsWhatWasCut(t *testing.T) {
	filler := strings.Repeat("nothing of interest here\n", 800)
	text := filler + "The metrics endpoint listens on port 9137.\n" + filler
	m := smallWindow(t, "memory tool")
	answerWithCalls(m, core.ToolCall{Name: "shell", Arguments: `{"command":"cat big"}`})
	m.take(core.ToolDone{Effect: first[core.RunTool](m), Result: exited(text)})
	require.NotContains(t, lastText(m), "9137")
	require.Contains(t, lastText(m), "recall WORDS finds what was cut")
	answerWithCalls(m, core.ToolCall{Name: "recall", Arguments: `{"query":"metrics endpoint port"}`})
	m.take(core.Recalled{Effect: last[core.Recall](m)})
	require.Contains(t, lastText(m), "(cut): The metrics endpoint listens on port 9137.")
}

// TestRecallIncludesWhatFits: an excluded item that takes more than a fifth of the window is not included again.
func TestRecallIncludesWhatFits(t *testing.T) {
	m := smallWindow(t, "memory tool")
	m.take(core.ModelDone{Effect: last[core.ModelRequest](m)})
	long := protocol.ResponseItem{ResponseItemVariant: &protocol.Message{Role: "user",
		Content: []protocol.ContentItem{{Type: protocol.ContentInputText, Text: strings.Repeat("word ", 3000)}}}}
	raw, err := protocol.Marshal(long)
	require.NoError(t, err)
	require.NoError(t, runCommand(m, "inject `"+string(raw)+"`", new(strings.Builder)))
	id := fmt.Sprintf("r%d", len(m.lines)-1)
	for _, line := range []string{"exclude ids=" + id, `turn-start "go on"`} {
		require.NoError(t, runCommand(m, line, new(strings.Builder)))
	}
	answerWithCalls(m, core.ToolCall{Name: "recall", Arguments: `{"ids":["` + id + `"]}`})
	require.Contains(t, lastText(m), id+" cannot be included. It has 37")
	require.Contains(t, lastText(m), "this call can include 3200 more: search it by words.")
}
