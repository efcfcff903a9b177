package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"appserver/core"
	"appserver/core/effects/model/modeltest"
	"appserver/core/effects/model/offline"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
)

// withShell returns the prompt of a user with the shell tool.
func withShell(text string) *core.Prompt {
	p := modeltest.UserSays(text)
	p.Tools = []core.ToolSpec{{Name: "shell", Parameters: json.RawMessage(`{"properties":{"command":{"type":"string"}}}`)}}
	return p
}

func script(t *testing.T, document string) *offline.Provider {
	t.Helper()
	s, err := offline.ReadScript(strings.NewReader(document))
	require.NoError(t, err)
	return offline.New(s)
}

func TestOfflineRunsTheCommandAskedFor(t *testing.T) {
	for text, command := range map[string]string{
		"run ls -la":                             "ls -la",
		"Run ls -la\nand tell me":                "ls -la",
		"$ echo hi":                              "echo hi",
		"  $  echo hi":                           "echo hi",
		"please run: make test\nthanks":          "make test",
		"Could you run `go vet ./...` for me?":   "go vet ./...",
		"run the tests with `go test`":           "go test",
		"do this:\n```sh\ncd /\nls\n```\nthanks": "cd /\nls",
		"```bash\r\nls\r\n```":                   "ls",
	} {
		_, answer, err := modeltest.Ask(t.Context(), offline.New(nil), withShell(text))
		require.NoError(t, err)
		want, err := json.Marshal(map[string]string{"command": command})
		require.NoError(t, err)
		require.Equal(t, []core.ToolCall{{ID: "call_1", Name: "shell", Arguments: string(want)}}, answer.Calls, text)
	}
}

func TestOfflineRunsNothingUnasked(t *testing.T) {
	for _, text := range []string{"", "hi", "a trunk `x`", "running `x`", "run", "$", "$HOME", "I run a shop",
		"```go\nx\n```", "prune: x"} {
		pieces, answer, err := modeltest.Ask(t.Context(), offline.New(nil), withShell(text))
		require.NoError(t, err)
		require.Empty(t, answer.Calls, text)
		require.NotEmpty(t, pieces)
	}
	pieces, answer, err := modeltest.Ask(t.Context(), offline.New(nil), modeltest.UserSays("run ls"))
	require.NoError(t, err)
	require.Empty(t, answer.Calls, "no tool is offered")
	require.NotEmpty(t, pieces)
}

func TestOfflineFollowsTheSchemaOfTheTool(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"command":{"type":"array"}}}`:  `{"command":["bash","-lc","ls"]}`,
		`{"properties":{"command":{"type":"string"}}}`: `{"command":"ls"}`,
		`{"properties":{"cmd":{"type":"string"}}}`:     `{"cmd":"ls"}`,
		`{}`: `{"command":"ls"}`,
		``:   `{"command":"ls"}`,
	} {
		p := modeltest.UserSays("run ls")
		p.Tools = []core.ToolSpec{{Name: "other"}, {Name: "exec_command", Parameters: json.RawMessage(schema)}}
		_, answer, err := modeltest.Ask(t.Context(), offline.New(nil), p)
		require.NoError(t, err)
		require.Equal(t, []core.ToolCall{{ID: "call_1", Name: "exec_command", Arguments: want}}, answer.Calls)
	}
}

func TestOfflineReportsTheOutput(t *testing.T) {
	p := withShell("run ls")
	p.Items = append(p.Items, modeltest.Items(
		&protocol.FunctionCall{CallID: "call_1", Name: "shell"},
		&protocol.FunctionCallOutput{CallID: "call_1", Output: protocol.ToolOutput{Text: "go.mod\nmain.go\n"}})...)
	pieces, answer, err := modeltest.Ask(t.Context(), offline.New(nil), p)
	require.NoError(t, err)
	require.Empty(t, answer.Calls)
	text, _ := modeltest.Spoken(pieces)
	require.Equal(t, "Done. The command printed:\ngo.mod\nmain.go\n", text)
	require.Greater(t, len(pieces), 1, "it comes in several deltas")

	p.Items = append(p.Items,
		modeltest.Items(modeltest.Say(protocol.RoleAssistant, text), modeltest.Say(protocol.RoleUser, "run pwd"))...)
	_, answer, err = modeltest.Ask(t.Context(), offline.New(nil), p)
	require.NoError(t, err)
	require.Equal(t, "call_2", answer.Calls[0].ID, "call_1 is taken")
}

func TestOfflineReportsEmptyOutput(t *testing.T) {
	p := withShell("run true")
	p.Items = append(p.Items, modeltest.Items(&protocol.CustomToolCallOutput{CallID: "c"})...)
	pieces, _, err := modeltest.Ask(t.Context(), offline.New(nil), p)
	require.NoError(t, err)
	text, _ := modeltest.Spoken(pieces)
	require.Equal(t, "Done. The command printed nothing.", text)
}

func TestOfflineQuotesAndCounts(t *testing.T) {
	p := modeltest.UserSays("first")
	p.Instructions = "Be kind."
	p.Items = append(p.Items,
		modeltest.Items(modeltest.Say(protocol.RoleAssistant, "yes?"),
			modeltest.Say(protocol.RoleUser, "Do you \"hear\" me?"))...)
	pieces, answer, err := modeltest.Ask(t.Context(), offline.New(nil), p)
	require.NoError(t, err)
	text, reasoning := modeltest.Spoken(pieces)
	require.Equal(t, `Hello! You said: "Do you \"hear\" me?". This request holds 4 messages.`, text)
	require.Empty(t, reasoning)
	require.Equal(t, &protocol.TokenUsageBreakdown{InputTokens: 9, OutputTokens: 18, TotalTokens: 27}, answer.Usage)
}

func TestOfflineThinks(t *testing.T) {
	pieces, _, err := modeltest.Ask(t.Context(), offline.New(nil), modeltest.UserSays("Think hard"))
	require.NoError(t, err)
	require.Equal(t, core.Piece{Kind: core.PieceReasoning, Text: "Thinking about: Think hard"}, pieces[0])
	require.Equal(t, core.PieceText, pieces[1].Kind)
}

func TestOfflineBoundsItsAnswers(t *testing.T) {
	pieces, _, err := modeltest.Ask(t.Context(), offline.New(nil), modeltest.UserSays(strings.Repeat("wörd ", 100_000)))
	require.NoError(t, err)
	text, _ := modeltest.Spoken(pieces)
	require.Less(t, len(text), 2000)

	p := withShell("run yes")
	long := strings.Repeat("y\n", 100_000)
	p.Items = append(p.Items,
		modeltest.Items(&protocol.FunctionCallOutput{CallID: "c", Output: protocol.ToolOutput{Text: long}})...)
	pieces, _, err = modeltest.Ask(t.Context(), offline.New(nil), p)
	require.NoError(t, err)
	text, _ = modeltest.Spoken(pieces)
	require.True(t, strings.HasSuffix(text, long), "output is given whole")
	require.LessOrEqual(t, len(pieces), 65)
}

func TestScriptInOrder(t *testing.T) {
	o := script(t, `{"steps":[
		{"toolCalls":[{"name":"shell","arguments":{"command": "ls"}},{"name":"f","arguments":"{broken","id":"mine"},{"name":"g","id":"mine"}],"usage":{"input":900,"output":3}},
		{"reasoning":"Two files.","deltas":["There are ","","two files."]},
		{"text":"And that was all."}
	]}`)
	_, answer, err := modeltest.Ask(t.Context(), o, modeltest.UserSays("hi"))
	require.NoError(t, err)
	require.Equal(t, core.Answer{
		Calls: []core.ToolCall{
			{ID: "call_1", Name: "shell", Arguments: `{"command":"ls"}`},
			{ID: "mine", Name: "f", Arguments: `{broken`},
			{ID: "call_2", Name: "g", Arguments: `{}`},
		},
		Usage: &protocol.TokenUsageBreakdown{InputTokens: 900, OutputTokens: 3, TotalTokens: 903},
	}, answer)

	pieces, _, err := modeltest.Ask(t.Context(), o, modeltest.UserSays("hi"))
	require.NoError(t, err)
	require.Equal(t, []core.Piece{{Kind: core.PieceReasoning, Text: "Two files."}, {Text: "There are "},
		{Text: "two files."}}, pieces)

	pieces, _, err = modeltest.Ask(t.Context(), o, modeltest.UserSays("hi"))
	require.NoError(t, err)
	text, _ := modeltest.Spoken(pieces)
	require.Equal(t, "And that was all.", text)

	pieces, _, err = modeltest.Ask(t.Context(), o, modeltest.UserSays("hi"))
	require.NoError(t, err)
	text, _ = modeltest.Spoken(pieces)
	require.Contains(t, text, "Hello!", "the script is at its end")
}

func TestScriptByMatch(t *testing.T) {
	o := script(t, `{"steps":[{"match":"weather","text":"Sunny."},{"match":"time","text":"Noon."},{"text":"Other."}]}`)
	for _, c := range [][2]string{{"what time is it", "Noon."}, {"hi", "Other."}, {"the weather?", "Sunny."},
		{"the weather?", "Hello!"}} {
		pieces, _, err := modeltest.Ask(t.Context(), o, modeltest.UserSays(c[0]))
		require.NoError(t, err)
		text, _ := modeltest.Spoken(pieces)
		require.True(t, strings.HasPrefix(text, c[1]), text)
	}
}

func TestScriptErrors(t *testing.T) {
	o := script(t, `{"steps":[
		{"error":{"status":429,"message":"slow down","retryAfterMs":1500,"times":2},"text":"At last."},
		{"error":{"status":500}},
		{"text":"After."}
	]}`)
	for range 2 {
		_, _, err := modeltest.Ask(t.Context(), o, modeltest.UserSays("hi"))
		m := modeltest.Failed(t, err)
		require.Equal(t, "unexpected status 429 Too Many Requests: slow down, url: offline", m.Message)
		require.Equal(t, 1500*time.Millisecond, m.RetryAfter)
		require.True(t, m.Retry)
		require.Equal(t, protocol.ErrorTooManyFailedAttempts, m.Info.Kind)
	}
	pieces, _, err := modeltest.Ask(t.Context(), o, modeltest.UserSays("hi"))
	require.NoError(t, err)
	text, _ := modeltest.Spoken(pieces)
	require.Equal(t, "At last.", text)

	_, _, err = modeltest.Ask(t.Context(), o, modeltest.UserSays("hi"))
	require.Equal(t, protocol.ErrorInternalServer, modeltest.Failed(t, err).Info.Kind)

	pieces, _, err = modeltest.Ask(t.Context(), o, modeltest.UserSays("hi"))
	require.NoError(t, err, "an error alone is used up")
	text, _ = modeltest.Spoken(pieces)
	require.Equal(t, "After.", text)
}

func TestScriptCut(t *testing.T) {
	o := script(t, `{"steps":[{"deltas":["a","b","c","d"],"cut":true},{"cut":true}]}`)
	pieces, _, err := modeltest.Ask(t.Context(), o, modeltest.UserSays("hi"))
	require.Equal(t, []core.Piece{{Text: "a"}, {Text: "b"}}, pieces)
	m := modeltest.Failed(t, err)
	require.True(t, strings.HasPrefix(m.Message, "stream disconnected before completion: "), m.Message)
	require.True(t, m.Retry)
	require.True(t, m.Streaming)

	pieces, _, err = modeltest.Ask(t.Context(), o, modeltest.UserSays("hi"))
	require.Empty(t, pieces)
	require.True(t, modeltest.Failed(t, err).Streaming)
}

func TestScriptTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := script(t, `{"steps":[{"deltas":["a","b"],"delayMs":1000,"gapMs":100}]}`)
		start := time.Now()
		var at []time.Duration
		_, err := o.Stream(t.Context(), modeltest.UserSays("hi"), func(core.Piece) { at = append(at, time.Since(start)) })
		require.NoError(t, err)
		require.Equal(t, []time.Duration{1000 * time.Millisecond, 1100 * time.Millisecond}, at)
	})
}

func TestOfflineCanBeCancelled(t *testing.T) {
	reason := errors.New("the user pressed escape")
	for name, document := range map[string]string{
		"before the answer": `{"steps":[{"text":"a","delayMs":3600000}]}`,
		"between deltas":    `{"steps":[{"deltas":["a","b"],"gapMs":3600000}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(reason) })
				start := time.Now()
				_, _, err := modeltest.Ask(ctx, script(t, document), modeltest.UserSays("hi"))
				require.Equal(t, reason, err)
				require.Equal(t, time.Second, time.Since(start))
			})
		})
	}
	t.Run("at once", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(reason)
		pieces, _, err := modeltest.Ask(ctx, offline.New(nil), modeltest.UserSays("hi"))
		require.Equal(t, reason, err)
		require.Empty(t, pieces)
	})
}

func TestOfflineSumsUp(t *testing.T) {
	p := modeltest.UserSays("# Summary of the conversation before\n\nTabs, not spaces.\n\n# Conversation\n\n## User\nFix x.\nNow.\n\n## Assistant\nDone.\n\n## User\nThanks.")
	p.Summarises = true
	pieces, _, err := modeltest.Ask(t.Context(), offline.New(nil), p)
	require.NoError(t, err)
	require.Equal(t, "Tabs, not spaces.\n\nThe offline provider sums up 2 messages of the user and 1 answers.\n- Fix x.\n- Thanks.", spokenText(pieces))

	p = modeltest.UserSays("# Conversation\n\nshell: run ls")
	p.Summarises = true
	pieces, answer, err := modeltest.Ask(t.Context(), offline.New(nil), p)
	require.NoError(t, err)
	require.Empty(t, answer.Calls)
	require.Equal(t, "The offline provider sums up 0 messages of the user and 0 answers.", spokenText(pieces))
}

func spokenText(pieces []core.Piece) string {
	text, _ := modeltest.Spoken(pieces)
	return text
}

// TestOfflineAnswersTheUserAndNotASkill: a skill stands behind the words that name it.
func TestOfflineAnswersTheUserAndNotASkill(t *testing.T) {
	user := func(text string) protocol.ResponseItem {
		return protocol.ResponseItem{ResponseItemVariant: &protocol.Message{Role: protocol.RoleUser,
			Content: []protocol.ContentItem{{Type: protocol.ContentInputText, Text: text}}}}
	}
	var said strings.Builder
	_, err := offline.New(nil).Stream(t.Context(),
		&core.Prompt{Items: []protocol.ResponseItem{user("hello $greet"), user("<skill>\n<name>greet</name>\n</skill>")}},
		func(p core.Piece) { said.WriteString(p.Text) })
	require.NoError(t, err)
	require.Contains(t, said.String(), "hello $greet")
	require.NotContains(t, said.String(), "<skill>")
}
