package core_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/protocol"
)

// messagesOf returns lines with n messages, assistant's and user's in turn.
func messagesOf(n int) (lines []protocol.RolloutLine) {
	for i := range n {
		lines = append(lines,
			messageLine(i, [...]string{protocol.RoleUser, protocol.RoleAssistant}[i%2], fmt.Sprint("message ", i)))
	}
	return lines
}

func messageLine(ordinal int, role, text string) protocol.RolloutLine {
	payload := fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":"input_text","text":%q}]}`, role, text)
	return protocol.RolloutLine{Type: protocol.LineResponseItem, Ordinal: new(int64(ordinal)),
		Payload: json.RawMessage(payload)}
}

func exclude(ids ...string) core.EditContext {
	return core.EditContext{Operation: &protocol.SetInclusion{ContextTargets: protocol.ContextTargets{IDs: ids}}}
}

func loaded(lines []protocol.RolloutLine) *core.Thread {
	return core.Load(threadID, core.Options{}, core.Settings{Model: "model-1"}, lines)
}

// TestRequestUnderWayKeepsWhatItHas edits a thread in every way while a request is under
// way, and compares the prompt that was handed out byte by byte.
func TestRequestUnderWayKeepsWhatItHas(t *testing.T) {
	m := newMachine(t.Errorf)
	m.take(m.start(protocol.HistoryPaginated))
	m.take(core.TurnStart{To: m.caller(), Params: &protocol.TurnStartParams{ThreadID: threadID, Input: goOn},
		Env: m.world})
	m.take(core.ModelDone{Effect: 1,
		Answer: core.Answer{Calls: []core.ToolCall{{ID: "c", Name: "shell", Arguments: `{"command":"make"}`}}}})
	out := m.take(core.ToolDone{Effect: 2, Result: core.ToolResult{ExitCode: new(0), Output: "built"}})
	sample := out.Effects[0].(core.ModelRequest)
	handed := encode(sample.Prompt)
	output := m.thread.ContextItems().Items[3].ID
	all := protocol.ContextTargets{Indices: []int64{0, 1, 2, 3}}
	for _, o := range []protocol.ContextOperationVariant{
		&protocol.Replace{ID: &output, Text: "another text"}, &protocol.Pin{ContextTargets: all, Pinned: true},
		&protocol.SetInclusion{ContextTargets: all}, &protocol.PruneByIndices{ContextTargets: all},
	} {
		m.take(core.EditContext{To: m.caller(), Operation: o})
		require.Equal(t, handed, encode(sample.Prompt), "%T", o)
	}
	require.Empty(t, m.thread.Prompt().Items)
	m.take(core.UndoContext{To: m.caller()})
	m.take(core.RestoreContext{To: m.caller()})
	require.Equal(t, handed, encode(sample.Prompt))
	require.Equal(t, encode(sample.Prompt.Items), encode(m.thread.Prompt().Items), "all is restored")
}

// TestEditLineDoesNotGrowWithTheHistory toggles an item in a short thread and in a long
// one: the lines are as long.
func TestEditLineDoesNotGrowWithTheHistory(t *testing.T) {
	size := func(n int) int {
		out := loaded(messagesOf(n)).Step(core.Stamp{}, exclude("r3", "r4"))
		require.Len(t, out.Lines, 1)
		return len(encode(out.Lines[0])) - len(fmt.Sprint(*out.Lines[0].Ordinal))
	}
	require.Equal(t, size(10), size(10_000))
	require.Less(t, size(10_000), 200)
}

// TestStaleEditsNameTheRevision finds the current revision in the error's data.
func TestStaleEditsNameTheRevision(t *testing.T) {
	thread := loaded(messagesOf(4))
	thread.Step(core.Stamp{}, exclude("r1"))
	edit := exclude("r2")
	edit.Expected = new(int64(0))
	out := thread.Step(core.Stamp{}, edit)
	require.Empty(t, out.Lines)
	require.JSONEq(t, `{"kind":"staleRevision","revision":1}`, encode(out.Messages[0].(core.Refusal).Err.Data))
}

// TestKnownModelsAreNotScaled gives a report that is far off for a model that the
// tokenizer knows: its counts stay.
func TestKnownModelsAreNotScaled(t *testing.T) {
	for model, same := range map[string]bool{"model-known": true, "model-1": false} {
		m := newMachine(t.Errorf)
		m.options.Tokens, m.settings.Model = guess(4), model
		m.take(m.start(protocol.HistoryPaginated))
		m.take(core.TurnStart{To: m.caller(), Params: &protocol.TurnStartParams{ThreadID: threadID, Input: goOn},
			Env: m.world})
		before := m.thread.PromptTokens()
		m.take(core.ModelDone{Effect: 1, Answer: core.Answer{Usage: &protocol.TokenUsageBreakdown{InputTokens: before * 3}}})
		require.Equal(t, same, m.thread.PromptTokens() == before, model)
	}
}

// TestCalibratedCountIsTheProviders counts the same request again after the provider reported its
// cost.
func TestCalibratedCountIsTheProviders(t *testing.T) {
	m := newMachine(t.Errorf)
	m.options.Tokens = guess(4)
	m.take(m.start(protocol.HistoryPaginated))
	m.take(core.TurnStart{To: m.caller(), Params: &protocol.TurnStartParams{ThreadID: threadID, Input: goOn},
		Env: m.world})
	m.take(core.ModelDone{Effect: 1, Answer: core.Answer{Usage: &protocol.TokenUsageBreakdown{InputTokens: 1500}}})
	require.InDelta(t, 1500, m.thread.PromptTokens(), 5, "each item is rounded")
	m.load()
	require.InDelta(t, 1500, m.thread.PromptTokens(), 5)
}

// TestPlainReaderOfAnEmptiedCompaction removes all items of a compaction. A reader that does not know
// edits finds an empty history, not all messages of the user.
func TestPlainReaderOfAnEmptiedCompaction(t *testing.T) {
	lines := append(messagesOf(3),
		protocol.RolloutLine{Type: protocol.LineCompacted, Ordinal: new(int64(3)),
			Payload: json.RawMessage(`{"message":"s"}`)})
	thread := loaded(lines)
	thread.Step(core.Stamp{}, exclude("r3.0", "r3.1", "r3.2"))
	projected, keep := thread.Projection()(lines[3])
	require.True(t, keep)
	require.JSONEq(t, `{"message":"","replacement_history":[]}`, string(projected.Payload))
}

// TestPlainReaderOfACompactionWithoutHistory excludes a message before a compaction without a history.
// A reader that takes all messages of the user must not find it.
func TestPlainReaderOfACompactionWithoutHistory(t *testing.T) {
	thread := loaded(messagesOf(3))
	out := thread.Step(core.Stamp{}, exclude("r0"))
	compacted := protocol.RolloutLine{Type: protocol.LineCompacted, Ordinal: new(int64(4)),
		Payload: json.RawMessage(`{"message":"s"}`)}
	thread = loaded(append(append(messagesOf(3), out.Lines...), compacted))
	projected, keep := thread.Projection()(compacted)
	require.True(t, keep)
	require.Equal(t, []string{"message 2", "s"}, textsOf(projected.Payload))
	require.Nil(t, loaded(append(messagesOf(3), compacted)).Projection(), "nothing was taken out")
}

// TestPlainReaderOfACompactionWithAReminder excludes a message of a compaction with a reminder. The reminder keeps its
// place in the prompt.
func TestPlainReaderOfACompactionWithAReminder(t *testing.T) {
	lines := messagesOf(1)
	for _, text := range []string{"<environment_context>", "go on", protocol.ReminderHead} {
		lines = append(lines, messageLine(len(lines), protocol.RoleUser, text))
	}
	compacted := protocol.RolloutLine{Type: protocol.LineCompacted, Ordinal: new(int64(4)),
		Payload: json.RawMessage(`{"message":"s"}`)}
	thread := loaded(append(lines, compacted))
	thread.Step(core.Stamp{}, exclude("r4.0"))
	projected, keep := thread.Projection()(compacted)
	require.True(t, keep)
	require.Equal(t, []string{"<environment_context>", "go on", protocol.ReminderHead, "s"}, textsOf(projected.Payload))
	require.Equal(t, encode(thread.Prompt().Items), encode(loaded(append(lines, projected)).Prompt().Items))
}

// TestPlainReaderOfAReminderAfterAnUnsentCompaction takes out all items that an encrypted compaction
// replaces. Its own items are not sent, so the reminder does not precede them.
func TestPlainReaderOfAReminderAfterAnUnsentCompaction(t *testing.T) {
	lines := append(messagesOf(1), protocol.RolloutLine{Type: protocol.LineCompacted, Ordinal: new(int64(1)),
		Payload: json.RawMessage(`{"message":"","replacement_history":[{"type":"compaction","encrypted_content":"xyz"}]}`)})
	for _, text := range []string{"<environment_context>", "go on", protocol.ReminderHead} {
		lines = append(lines, messageLine(len(lines), protocol.RoleUser, text))
	}
	pin := core.EditContext{Operation: &protocol.Pin{
		ContextTargets: protocol.ContextTargets{IDs: []string{"r1.0"}}, Pinned: true}}
	for _, edits := range [][]core.Input{
		{exclude("r0"), exclude("r1.0")},
		{pin, core.TrimContext{KeepLast: 0, Summary: new("What was.")}},
	} {
		thread, all := loaded(lines), lines
		for _, edit := range edits {
			for _, line := range thread.Step(core.Stamp{NewID: func() string { return "point" }}, edit).Lines {
				line.Ordinal = new(nextOrdinal(all))
				all = append(all[:len(all):len(all)], line)
			}
		}
		thread = loaded(all)
		project := thread.Projection()
		var plain []protocol.RolloutLine
		for _, line := range all {
			if line, keep := project(line); keep && !ours(line.Type) {
				plain = append(plain, line)
			}
		}
		require.Equal(t, encode(thread.Prompt().Items), encode(loaded(plain).Prompt().Items))
	}
}

func textsOf(compacted json.RawMessage) (texts []string) {
	for _, text := range gjson.GetBytes(compacted, "replacement_history.#.content.0.text").Array() {
		texts = append(texts, text.Str)
	}
	return texts
}

// TestNothingIsRewrittenWithoutEdits has no projection where edits left nothing.
func TestNothingIsRewrittenWithoutEdits(t *testing.T) {
	thread := loaded(messagesOf(3))
	require.Nil(t, thread.Projection())
	thread.Step(core.Stamp{}, exclude("r0"))
	require.NotNil(t, thread.Projection())
	thread.Step(core.Stamp{}, core.UndoContext{})
	require.Nil(t, thread.Projection())
	thread.Step(core.Stamp{},
		core.EditContext{Operation: &protocol.Pin{ContextTargets: protocol.ContextTargets{IDs: []string{"r1"}},
			Pinned: true}})
	require.Nil(t, thread.Projection(), "pins change no request")
}

// TestDisorderedFilesAreLeftAlone excludes an item of a file in which two lines have the
// same ordinal: a reader by ordinals would take the wrong line out.
func TestDisorderedFilesAreLeftAlone(t *testing.T) {
	lines := messagesOf(3)
	lines[2].Ordinal = new(int64(1))
	thread := loaded(append(lines, messagesOf(4)[3]))
	thread.Step(core.Stamp{}, exclude("r1"))
	require.Nil(t, thread.Projection())
}

// TestUnknownEditsChangeNothing has lines of a later version among the edits: they count,
// and are no edits that can be undone.
func TestUnknownEditsChangeNothing(t *testing.T) {
	for _, op := range []string{"", "compact", "fold", "Exclude"} {
		edit := protocol.RolloutLine{Type: protocol.LineContextEdit,
			Payload: json.RawMessage(`{"op":"` + op + `","revision":7,"ids":["r1"],"tokens":[5],"text":"x"}`)}
		undo := protocol.RolloutLine{Type: protocol.LineContextEdit,
			Payload: json.RawMessage(`{"op":"undo","revision":8,"target":7}`)}
		thread := loaded(append(messagesOf(3), edit, undo))
		require.EqualValues(t, 8, thread.ContextRevision())
		require.Equal(t, encode(loaded(messagesOf(3)).Prompt().Items), encode(thread.Prompt().Items))
		require.Nil(t, thread.Projection(), "op %q", op)
		out := thread.Step(core.Stamp{}, core.UndoContext{})
		require.Equal(t, protocol.KindNothingToUndo, out.Messages[0].(core.Refusal).Err.Data.Kind)
	}
}

// TestEveryKindHasAPreview lists each kind of item, unknown ones, empty ones, and such
// that cannot be decoded.
func TestEveryKindHasAPreview(t *testing.T) {
	for _, tt := range previews {
		t.Run(tt.name, func(t *testing.T) {
			items := loaded([]protocol.RolloutLine{{Type: protocol.LineResponseItem,
				Payload: json.RawMessage(tt.item)}}).ContextItems().Items
			require.Len(t, items, 1)
			require.Equal(t, tt.category+": "+tt.preview, string(items[0].Category)+": "+items[0].Preview)
		})
	}
}

var previews = []struct{ name, item, category, preview string }{
	{"message", `{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":" b\n"}]}`, "userMessage", "a b"},
	{"message without content", `{"type":"message","role":"assistant","content":[]}`, "assistantMessage", ""},
	{"message of null", `{"type":"message","role":"assistant","content":null}`, "assistantMessage", ""},
	{"message of nobody", `{"type":"message","content":[{"type":"input_text","text":"x"}]}`, "developerMessage", "x"},
	{"system", `{"type":"message","role":"system","content":[{"type":"input_text","text":"x"}]}`, "developerMessage", "x"},
	{"images", `{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:,"},{"type":"input_image","image_url":"data:,"}]}`, "userMessage", "[image] [image]"},
	{"image and text", `{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:,"},{"type":"input_text","text":"see"}]}`, "userMessage", "[image] see"},
	{"empty text", `{"type":"message","role":"user","content":[{"type":"input_text","text":""}]}`, "userMessage", ""},
	{"environment", `{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n</environment_context>"}]}`, "environmentContext", "environment_context"},
	{"with an id", `{"type":"message","id":"m","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]}`, "environmentContext", "<environment_context>"},
	{"reasoning", `{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"content":[{"type":"reasoning_text","text":"b"}]}`, "reasoning", "a"},
	{"secret reasoning", `{"type":"reasoning","summary":[],"encrypted_content":"xyz"}`, "reasoning", "[encrypted]"},
	{"call", `{"type":"function_call","name":"f","namespace":"mcp__","arguments":"{}","call_id":"c"}`, "toolCall",
		"f"},
	{"call without anything", `{"type":"function_call"}`, "toolCall", ""},
	{"custom call", `{"type":"custom_tool_call","name":"patch","input":"*** Begin\u0000","call_id":"c"}`, "toolCall",
		"patch *** Begin"},
	{"shell call", `{"type":"local_shell_call","call_id":"c","status":"x","action":{"type":"exec","command":["a","b c"]}}`,
		"toolCall", "a 'b c'"},
	{"shell call without a command", `{"type":"local_shell_call","call_id":"c"}`, "toolCall", "shell"},
	{"output", `{"type":"function_call_output","call_id":"c","output":"a\r\nb\tc"}`, "toolOutput", "a b c"},
	{"output of parts", `{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:,"}]}`, "toolOutput", "a [image]"},
	{"output of an image",
		`{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:,"}]}`,
		"toolOutput", "[image]"},
	{"output of nothing", `{"type":"function_call_output","call_id":"c","output":null}`, "toolOutput", ""},
	{"unknown", `{"type":"web_search_call","query":"x"}`, "other", "web search"},
	{"without a type", `{"role":"user"}`, "other", `{"role":"user"}`},
	{"type of another form", `{"type":7}`, "other", `{"type":7}`},
	{"content of another form", `{"type":"message","role":"user","content":7}`, "other",
		`{"type":"message","role":"user","content":7}`},
	{"huge", `{"type":"message","role":"user","content":[{"type":"input_text","text":"` + strings.Repeat("ab ", 1<<20) +
		`"}]}`, "userMessage", strings.Repeat("ab ", 26) + "a…"},
}

// countingTokenizer counts how often it is asked.
type countingTokenizer struct{ asked int }

func (*countingTokenizer) Known(string) bool { return true }

func (c *countingTokenizer) Count(_, text string) int {
	c.asked++
	return len(text)
}

// TestItemsAreDescribedAhead has nothing left to count when the list is asked for, and
// leaves threads alone that are larger than any window.
func TestItemsAreDescribedAhead(t *testing.T) {
	tokens := &countingTokenizer{}
	thread := core.Load(threadID, core.Options{Tokens: tokens}, core.Settings{Model: "m"}, messagesOf(10))
	for range 3 {
		require.True(t, thread.Describe(3))
	}
	require.False(t, thread.Describe(3))
	require.Equal(t, 10, tokens.asked)
	thread.PromptTokens() // counts the system prompt and the tools
	before := tokens.asked
	require.Len(t, thread.ContextItems().Items, 10)
	require.Equal(t, before, tokens.asked, "each item is counted once")

	large := protocol.RolloutLine{Type: protocol.LineResponseItem, Payload: json.RawMessage(
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + strings.Repeat("x", 9<<20) + `"}]}`)}
	tokens = &countingTokenizer{}
	thread = core.Load(threadID, core.Options{Tokens: tokens}, core.Settings{}, []protocol.RolloutLine{large})
	require.False(t, thread.Describe(3))
	require.Zero(t, tokens.asked)
}
