package history_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// trimmed returns a conversation whose items are all before a trim point, on line 5.
func trimmed() *history.History {
	h := conversation()
	appendLines(h, newLine(5, protocol.LineTrimPoint, protocol.StoredTrimPoint{ID: "point", Reason: protocol.TrimAsked}))
	return h
}

// include includes items with the line of an ordinal.
func include(t *testing.T, h *history.History, ordinal int64, ids ...string) protocol.StoredContextEdit {
	t.Helper()
	p, err := h.Plan(&protocol.SetInclusion{ContextTargets: targets(ids...), Included: true}, nil)
	require.Nil(t, err)
	line := h.Encode(p)
	appendLines(h, newLine(ordinal, protocol.LineContextEdit, line))
	return line
}

// TestACallAndItsOutputReturnTogether names one half of a call in each case.
func TestACallAndItsOutputReturnTogether(t *testing.T) {
	for _, id := range []string{"r2", "r3"} {
		h := trimmed()
		line := include(t, h, 6, id)
		require.Equal(t, protocol.StoredContextEdit{Op: protocol.EditInclude, IDs: []string{"r2", "r3"}, Returns: true}, line)
		require.Equal(t, []string{`shell {"command":["make"]}`, "main.go:3: undefined: x"}, texts(h), id)
		require.Equal(t, map[int]bool{1: true, 2: true}, h.BroughtBack())
		undo(h, 7)
		require.Empty(t, texts(h))
		require.Empty(t, h.BroughtBack())
	}
}

// TestHalvesOfCallsWithOneIDReturnWithTheirOwn has two calls with the same id.
func TestHalvesOfCallsWithOneIDReturnWithTheirOwn(t *testing.T) {
	h := conversation()
	appendLines(h,
		item(5, &protocol.FunctionCall{Name: "view", CallID: "call-1", Arguments: `{}`}),
		item(6, &protocol.FunctionCallOutput{CallID: "call-1", Output: protocol.ToolOutput{Text: "seen"}}),
		newLine(7, protocol.LineTrimPoint, protocol.StoredTrimPoint{ID: "point", Reason: protocol.TrimAsked}))
	require.Equal(t, []string{"r5", "r6"}, include(t, h, 8, "r6").IDs)
	require.Equal(t, []string{"view {}", "seen"}, texts(h))
	require.Equal(t, []string{"r2", "r3"}, include(t, h, 9, "r2").IDs)
	require.Equal(t, []string{`shell {"command":["make"]}`, "main.go:3: undefined: x", "view {}", "seen"}, texts(h))
}

// TestPreviewOfAReturnChangesNothing previews the return of a call and the deletion of it, which needs its output.
func TestPreviewOfAReturnChangesNothing(t *testing.T) {
	h := trimmed()
	before := h.Edits(true)
	operations := []protocol.ContextOperation{
		{ContextOperationVariant: &protocol.SetInclusion{ContextTargets: targets("r2", "r4"), Included: true}},
		{ContextOperationVariant: &protocol.PruneByIndices{ContextTargets: targets("r2")}},
	}
	usage := func() protocol.ContextUsage { return h.Usage(history.Tokens{}) }
	answer, err := h.Preview(operations, nil, usage)
	require.Nil(t, err)
	require.Equal(t, []protocol.ContextSentChange{
		{ID: "r4", Was: protocol.SentNothing, Is: protocol.SentItself}}, answer.Changes)
	require.Equal(t, before, h.Edits(true))
	require.Empty(t, texts(h))
	require.Equal(t, answer.Before, usage())
}

// TestItemsThatCannotReturnAreRefused has the reason in the error.
func TestItemsThatCannotReturnAreRefused(t *testing.T) {
	reverted := conversation()
	reverted.Revert(&history.Line{Ordinal: 5}, 2, 0)
	reminded := &history.History{}
	appendLines(reminded, item(1, history.UserMessage(protocol.ReminderHead+"v1 | repo= | ts=]\n- The port is 9137.")),
		newLine(2, protocol.LineTrimPoint, protocol.StoredTrimPoint{ID: "point", Reason: protocol.TrimAsked}))
	encrypted := &history.History{}
	appendLines(encrypted, item(1, history.UserMessage("one")), newLine(2, protocol.LineCompacted, protocol.Compacted{
		ReplacementHistory: []json.RawMessage{json.RawMessage(`{"type":"compaction","encrypted_content":"xyz"}`)}}),
		newLine(3, protocol.LineTrimPoint, protocol.StoredTrimPoint{ID: "point", Reason: protocol.TrimAsked}))
	undone := conversation()
	appendLines(undone, newLine(5, protocol.LineTrimPoint,
		protocol.StoredTrimPoint{ID: "point", Reason: protocol.TrimAsked, Summary: new("It fails.")}))
	undo(undone, 6)
	voided := conversation()
	appendLines(voided, newLine(5, protocol.LineTrimPoint,
		protocol.StoredTrimPoint{ID: "point", Reason: protocol.TrimAsked, Summary: new("It fails.")}),
		newLine(6, protocol.LineTrimPoint, protocol.StoredTrimPoint{ID: "other", Reason: protocol.TrimAsked}),
		newLine(7, protocol.LineContextEdit, protocol.StoredContextEdit{Op: protocol.EditRestore}))
	for _, c := range []struct {
		h           *history.History
		id, message string
	}{
		{voided, "r5.0", "undone"},
		{reverted, "r3", "Its turn was reverted"},
		{reminded, "r1", "a reminder of the memory"},
		{encrypted, "r2.0", "an encrypted compaction"},
		{undone, "r5.0", "undone"},
	} {
		_, err := c.h.Plan(&protocol.SetInclusion{ContextTargets: targets("r99", c.id), Included: true}, nil)
		require.NotNil(t, err, c.id)
		require.Equal(t, protocol.KindNotReturnable, err.Data.Kind)
		require.Contains(t, err.Message, c.id+" cannot be included again.")
		require.Contains(t, err.Message, c.message)
		before := texts(c.h)
		line := protocol.StoredContextEdit{Op: protocol.EditInclude, IDs: []string{c.id}, Returns: true}
		appendLines(c.h, newLine(9, protocol.LineContextEdit, line)) // of a damaged rollout
		require.Equal(t, before, texts(c.h))
		require.Zero(t, c.h.LastEdit().Count)
	}
}

// TestItemsThatARevertFindsHiddenAreReverted trims, restores and trims an item before its turn is reverted.
func TestItemsThatARevertFindsHiddenAreReverted(t *testing.T) {
	h := trimmed()
	appendLines(h, newLine(6, protocol.LineContextEdit, protocol.StoredContextEdit{Op: protocol.EditRestore}),
		newLine(7, protocol.LineTrimPoint, protocol.StoredTrimPoint{ID: "other", Reason: protocol.TrimAsked}))
	require.Equal(t, protocol.ReasonTrimmed, h.RemovalReasons()[3])
	h.Revert(&history.Line{Ordinal: 8}, 3, 0)
	require.Empty(t, h.RemovalReasons()[3])
	require.Equal(t, "Its turn was reverted.", h.NotReturnable(3))
}

// TestAnIncludeOfOlderVersionsShowsNoHiddenItem applies a line without the mark for returns.
func TestAnIncludeOfOlderVersionsShowsNoHiddenItem(t *testing.T) {
	h := trimmed()
	appendLines(h, newLine(6, protocol.LineContextEdit,
		protocol.StoredContextEdit{Op: protocol.EditInclude, IDs: []string{"r4"}}))
	require.Empty(t, texts(h))
	require.EqualValues(t, 2, h.Revision())
}
