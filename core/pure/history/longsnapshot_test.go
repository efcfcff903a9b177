package history_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// longLines returns the lines of turns with a question, a call and its output each, with a compaction after every
// hundredth turn. The last output is missing.
func longLines(turns int) (lines []protocol.RolloutLine) {
	next := int64(0)
	add := func(kind string, payload any) {
		next++
		lines = append(lines, newLine(next, kind, payload))
	}
	for i := range turns {
		call := fmt.Sprintf("call-%d", i)
		for _, v := range []protocol.ResponseItemVariant{
			history.UserMessage(fmt.Sprintf("Question %d?", i)),
			&protocol.FunctionCall{Name: "shell", CallID: call, Arguments: `{}`},
			&protocol.FunctionCallOutput{CallID: call, Output: protocol.ToolOutput{Text: fmt.Sprintf("output %d", i)}},
		} {
			add(protocol.LineResponseItem, protocol.ResponseItem{ResponseItemVariant: v})
		}
		if i%100 == 99 {
			add(protocol.LineCompacted, protocol.Compacted{Message: fmt.Sprintf("Summary %d", i)})
		}
	}
	return lines[:len(lines)-1]
}

func requireSame(t *testing.T, want, got *history.History) {
	t.Helper()
	require.Equal(t, want.Len(), got.Len())
	require.Equal(t, want.Listed(), got.Listed())
	require.Equal(t, texts(want), texts(got))
	for place := range want.Len() {
		w, g := want.Item(place), got.Item(place)
		require.Equal(t, []any{w.ID(), w.Pair(), w.Hidden(), w.CallID()}, []any{g.ID(), g.Pair(), g.Hidden(), g.CallID()})
	}
	require.Equal(t, want.Edits(true), got.Edits(true))
}

// TestALongHistoryContinuesFromASnapshot has the same items and edits as a history of all lines, whatever follows.
func TestALongHistoryContinuesFromASnapshot(t *testing.T) {
	for name, then := range map[string]func(h *history.History, next int64){
		"nothing": func(*history.History, int64) {},
		"the output of a call": func(h *history.History, next int64) {
			appendLines(h, item(next, &protocol.FunctionCallOutput{CallID: "call-1049"}))
		},
		"the undo of compactions": func(h *history.History, next int64) {
			undo(h, next)
			undo(h, next+1)
		},
		"a revert": func(h *history.History, next int64) {
			line := newLine(next, protocol.LineEventMsg, struct{}{})
			h.Revert(&history.Line{RolloutLine: line, Ordinal: next}, 1234, h.Revision()+1)
		},
		"an item that returns": func(h *history.History, next int64) {
			edit(h, next, &protocol.SetInclusion{ContextTargets: targets("r1500"), Included: true})
		},
		"a trim, and a restore": func(h *history.History, next int64) {
			appendLines(h, newLine(next, protocol.LineTrimPoint, protocol.StoredTrimPoint{ID: "p-1", Summary: new("gone")}),
				newLine(next+1, protocol.LineContextEdit, protocol.StoredContextEdit{Op: protocol.EditRestore}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			lines := longLines(1050)
			next := int64(len(lines) + 1)
			whole, first := &history.History{}, &history.History{}
			appendLines(whole, lines...)
			appendLines(first, lines[:2000]...)
			part := again(t, first)
			appendLines(part, lines[2000:]...)
			part = again(t, part)
			then(whole, next)
			then(part, next)
			require.True(t, part.HasCall("call-7"))
			require.False(t, part.HasCall("call-7000"))
			requireSame(t, whole, again(t, part))
			requireSame(t, whole, part)
		})
	}
}
