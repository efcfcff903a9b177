package history_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/pure/history"
	"appserver/core/pure/lineref"
	"appserver/core/pure/snapshot"
	"appserver/core/pure/snapshot/snapshottest"
	"appserver/protocol"
	"appserver/test/sample"
)

func targets(ids ...string) protocol.ContextTargets { return protocol.ContextTargets{IDs: ids} }

func texts(h *history.History) (list []string) {
	for _, item := range h.Prompt() {
		list = append(list, history.ContentText(item))
	}
	return list
}

func undo(h *history.History, ordinal int64) {
	line := protocol.StoredContextEdit{Op: protocol.EditUndo, Target: h.Undoable().Ordinal()}
	appendLines(h, newLine(ordinal, protocol.LineContextEdit, line))
}

func redo(h *history.History, ordinal int64) {
	line := protocol.StoredContextEdit{Op: protocol.EditRedo, Target: h.Redoable().Ordinal()}
	appendLines(h, newLine(ordinal, protocol.LineContextEdit, line))
}

func TestEachOperationCanBeUndoneAndRedone(t *testing.T) {
	for _, c := range []struct {
		name      string
		operation protocol.ContextOperationVariant
		want      []string
	}{
		{"exclude a call", &protocol.SetInclusion{ContextTargets: targets("r2")},
			[]string{"Why does the build fail?", "x is not defined."}},
		{"delete an output", &protocol.PruneByIndices{ContextTargets: targets("r3")},
			[]string{"Why does the build fail?", `shell {"command":["make"]}`,
				"[output excluded from context: 10 tokens]", "x is not defined."}},
		{"replace an output", &protocol.Replace{ID: new("r3"), Text: "one error"},
			[]string{"Why does the build fail?", `shell {"command":["make"]}`, "one error", "x is not defined."}},
		{"prune answers", &protocol.Prune{Categories: []protocol.ContextCategory{protocol.CategoryAssistantMessage}},
			[]string{"Why does the build fail?", `shell {"command":["make"]}`, "main.go:3: undefined: x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := conversation()
			before := texts(h)
			all := func(*protocol.PruneRange) (func(string) bool, *protocol.Error) {
				return func(string) bool { return true }, nil
			}
			plan, err := h.Plan(c.operation, all)
			require.Nil(t, err)
			appendLines(h, newLine(5, protocol.LineContextEdit, h.Encode(plan)))
			require.Equal(t, c.want, texts(h))
			undo(h, 6)
			require.Equal(t, before, texts(h))
			redo(h, 7)
			require.Equal(t, c.want, texts(h))
			require.EqualValues(t, 3, h.Revision())
		})
	}
}

func TestARangeByOutputsKeepsTheLastOnesWithTheirCallsWithinATurn(t *testing.T) {
	everything := []protocol.ContextCategory{protocol.CategoryToolCall, protocol.CategoryToolOutput,
		protocol.CategoryAssistantMessage}
	for _, c := range []struct {
		count      uint32
		excluded   string // in advance
		pinned     string
		categories []protocol.ContextCategory
		want       []string
	}{
		{count: 1, want: []string{"r2", "r3", "r4", "r5", "r7"}},
		{count: 1, categories: everything[1:2], want: []string{"r3", "r7"}},
		{count: 2, want: []string{"r2", "r3", "r4"}},
		{count: 1, excluded: "r8", want: []string{"r2", "r3", "r4", "r6"}}, // r5 is the call of r7
		{count: 1, pinned: "r3", want: []string{"r4", "r5", "r7"}},
		{count: 3},
		{count: 0, want: []string{"r2", "r3", "r4", "r5", "r6", "r7", "r8"}},
	} {
		h := conversation()
		appendLines(h,
			item(5, &protocol.FunctionCall{Name: "shell", CallID: "call-2", Arguments: `{}`}),
			item(6, &protocol.FunctionCall{Name: "shell", CallID: "call-3", Arguments: `{}`}),
			item(7, &protocol.FunctionCallOutput{CallID: "call-2", Output: protocol.ToolOutput{Text: "two"}}),
			item(8, &protocol.FunctionCallOutput{CallID: "call-3", Output: protocol.ToolOutput{Text: "three"}}))
		if c.excluded != "" {
			edit(h, 9, &protocol.SetInclusion{ContextTargets: targets(c.excluded)})
		}
		if c.pinned != "" {
			edit(h, 9, &protocol.Pin{ContextTargets: targets(c.pinned), Pinned: true})
		}
		if c.categories == nil {
			c.categories = everything
		}
		plan, err := h.Plan(&protocol.Prune{Categories: c.categories,
			Range: &protocol.PruneRange{Word: protocol.RangeKeepLastOutputs, Count: c.count}}, nil)
		require.Nil(t, err)
		var ids []string
		for _, place := range plan.Places {
			ids = append(ids, h.Item(place).ID())
		}
		require.Equal(t, c.want, ids, "%+v", c)
	}
}

func TestANewEditMakesUndoneEditsFinal(t *testing.T) {
	h := conversation()
	edit(h, 5, &protocol.SetInclusion{ContextTargets: targets("r1")})
	undo(h, 6)
	require.NotNil(t, h.Redoable())
	edit(h, 7, &protocol.Pin{ContextTargets: targets("r1"), Pinned: true})
	require.Nil(t, h.Redoable())
}

func TestARestoreBringsBackTrimsAndEdits(t *testing.T) {
	h := conversation()
	before := texts(h)
	edit(h, 5, &protocol.SetInclusion{ContextTargets: targets("r4")})
	appendLines(h, newLine(6, protocol.LineTrimPoint, protocol.StoredTrimPoint{ID: "p-1", Summary: new("gone")}))
	require.Equal(t, []string{history.SummaryHead + "gone"}, texts(h))
	appendLines(h, newLine(7, protocol.LineContextEdit, protocol.StoredContextEdit{Op: protocol.EditRestore}))
	require.Equal(t, before, texts(h))
	require.Empty(t, h.TrimPoints())
}

func TestATrimKeepsPinnedItemsWithTheirPairs(t *testing.T) {
	h := conversation()
	edit(h, 5, &protocol.Pin{ContextTargets: targets("r3"), Pinned: true})
	require.Equal(t, []int{1, 2}, h.Retained(history.None))
}

func TestARevertTakesOutItsItemsAndEndsUndo(t *testing.T) {
	h := conversation()
	edit(h, 5, &protocol.SetInclusion{ContextTargets: targets("r1")})
	line := history.Line{Ordinal: 6}
	h.Revert(&line, 2, 0)
	require.Empty(t, texts(h), "the excluded question stays excluded")
	require.Nil(t, h.Undoable())
}

// saving returns the line of an edit that excludes items and saves tokens.
func saving(revision, tokens int64, ids ...string) protocol.StoredContextEdit {
	return protocol.StoredContextEdit{Op: protocol.EditExclude, Revision: revision, IDs: ids, SavedTokens: tokens}
}

func TestSavedTokensAreThoseOfTheEditsInForceAtARevision(t *testing.T) {
	h := conversation()
	require.Zero(t, h.SavedAt(0))
	appendLines(h, newLine(5, protocol.LineContextEdit, saving(1, 100, "r3")),
		newLine(6, protocol.LineContextEdit, saving(2, 40, "r4")))
	undo(h, 7)
	copied, err := h.After(1)
	require.Nil(t, err)
	redo(h, 8)
	appendLines(h, newLine(9, protocol.LineContextEdit, saving(9, -15, "r2")),
		newLine(10, protocol.LineTrimPoint, protocol.StoredTrimPoint{ID: "p", Revision: 10, KeepFrom: "r4", SavedTokens: 7}),
		newLine(11, protocol.LineContextEdit, saving(11, 1<<62, "r1")))
	for revision, want := range map[int64]int64{0: 0, 1: 100, 2: 140, 3: 100, 4: 140, 8: 140, 9: 125, 10: 132,
		11: 132 + 1<<31 - 1, 1 << 40: 132 + 1<<31 - 1} {
		require.Equal(t, want, h.SavedAt(revision), revision)
	}
	require.EqualValues(t, 100, copied.SavedAt(3), "a copy has savings of its own")
}

func TestARevertEndsTheSavingsOfItsItems(t *testing.T) {
	h := conversation()
	appendLines(h, newLine(5, protocol.LineContextEdit, saving(1, 100, "r1", "r3")),
		newLine(6, protocol.LineContextEdit, saving(2, 40, "r4")))
	undo(h, 7)
	line := history.Line{Ordinal: 8}
	h.Revert(&line, 3, 4)
	require.EqualValues(t, 100, h.SavedAt(3))
	require.EqualValues(t, 50, h.SavedAt(4), "one of the two items is left")
	line.Ordinal = 9
	h.Revert(&line, 1, 5)
	require.Zero(t, h.SavedAt(5))
	require.EqualValues(t, 50, h.SavedAt(4), "earlier requests keep their savings")
}

// TestAReasoningGoesBackToItsModelOnly sends reasoning to three recipients.
func TestAReasoningGoesBackToItsModelOnly(t *testing.T) {
	h := &history.History{}
	maker := history.Model{Provider: "openai", Name: "gpt"}
	h.SetModel(maker)
	h.SetResponses(true)
	appendLines(
		h,
		item(1, &protocol.Reasoning{EncryptedContent: new("secret")}),
		item(
			2,
			&protocol.Message{
				Role:    protocol.RoleAssistant,
				Content: []protocol.ContentItem{{Type: "output_text", Text: "Done."}},
			},
		),
	)
	require.Empty(t, h.NotSent(0))
	h.SetModel(history.Model{Provider: "openai", Name: "other"})
	require.Equal(t, protocol.NotSentOtherModel, h.NotSent(0))
	h.SetModel(history.Model{Provider: "local", Name: "gpt"})
	require.Equal(t, protocol.NotSentOtherProvider, h.NotSent(0))
	h.SetModel(maker)
	edit(h, 3, &protocol.SetInclusion{ContextTargets: targets("r2")})
	require.Equal(t, protocol.NotSentAnswerNotSent, h.NotSent(0), "it goes back with the text behind it only")
}

// TestReplacedEncryptedReasoningIsInNoPrompt replaces the text of reasoning that only its provider can read. The
// model does not receive it, so a reader that ignores edits does not find it.
func TestReplacedEncryptedReasoningIsInNoPrompt(t *testing.T) {
	h := &history.History{}
	h.SetResponses(true)
	thought := item(1, &protocol.Reasoning{EncryptedContent: new("secret")})
	appendLines(h, thought, item(2, history.UserMessage("Go on.")))
	edit(h, 3, &protocol.Replace{ID: new("r1"), Text: "short"})
	require.Equal(t, protocol.NotSentReplaced, h.NotSent(0))
	_, keep := h.Projection()(thought)
	require.False(t, keep)
}

func TestDamagedLinesChangeNothing(t *testing.T) {
	h := conversation()
	before := texts(h)
	for ordinal, kind := range []string{protocol.LineContextEdit, protocol.LineTrimPoint, protocol.LineCompacted} {
		line := newLine(int64(5+ordinal), kind, []int{1})
		appendLines(h, line)
	}
	require.Equal(t, before, texts(h))
	require.Zero(t, h.Revision())
}

// again returns a history from the snapshot of another one.
func again(t require.TestingT, h *history.History) *history.History {
	read := &history.History{}
	snapshottest.Copy(t, h.WriteSnapshot, func(r *snapshot.Reader) { read.ReadSnapshot(r, lineref.NewSource(nil)) })
	return read
}

// TestAnyEditsSurviveASnapshot draws edits, and compares the history with one read from its snapshot, and
// with itself after all edits are undone.
func TestAnyEditsSurviveASnapshot(t *testing.T) {
	all := func(*protocol.PruneRange) (func(string) bool, *protocol.Error) {
		return func(string) bool { return true }, nil
	}
	sample.Check(t, func(t *rapid.T) {
		h := conversation()
		before := h.Notification().Items
		next := int64(5)
		draw := sample.Operations{
			Int: func(n int, label string) int { return rapid.IntRange(0, n-1).Draw(t, label) },
			Targets: func() protocol.ContextTargets {
				return targets(fmt.Sprintf("r%d", rapid.IntRange(1, 4).Draw(t, "item")))
			},
		}
		for range rapid.IntRange(1, 8).Draw(t, "edits") {
			if plan, err := h.Plan(draw.Draw(t), all); err == nil {
				appendLines(h, newLine(next, protocol.LineContextEdit, h.Encode(plan)))
				next++
			}
		}
		read := again(t, h)
		require.Equal(t, texts(h), texts(read))
		require.Equal(t, h.Notification(), read.Notification())
		for read.Undoable() != nil {
			undo(read, next)
			next++
		}
		require.Equal(t, before, read.Notification().Items)
	})
}
