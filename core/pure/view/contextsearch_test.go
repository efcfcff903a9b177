package view_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/history"
	"appserver/core/pure/view"
	"appserver/protocol"
)

// searchable returns a context with a message, a call and its output, and reasoning.
func searchable(t *testing.T) *history.History {
	t.Helper()
	h := &history.History{}
	for i, v := range []protocol.ResponseItemVariant{
		history.UserMessage("Why does the Build fail?"),
		&protocol.FunctionCall{Name: "shell", CallID: "call-1", Arguments: `{"command":["build"]}`},
		&protocol.FunctionCallOutput{CallID: "call-1", Output: protocol.ToolOutput{
			Text: strings.Repeat("line\n", 30) + "\x1b[31mmain.go:3:\n\tbuild failed, build again" + strings.Repeat("\nline", 60),
		}},
		&protocol.Reasoning{Summary: []protocol.ReasoningText{{Text: "The straße is closed."}}},
	} {
		addItem(t, h, int64(i), v)
	}
	return h
}

func addItem(t *testing.T, h *history.History, ordinal int64, v protocol.ResponseItemVariant) {
	t.Helper()
	raw, err := protocol.Marshal(protocol.ResponseItem{ResponseItemVariant: v})
	require.NoError(t, err)
	h.Add(&history.Line{Ordinal: ordinal, TurnID: "turn-1", RolloutLine: protocol.RolloutLine{
		Ordinal: &ordinal, Type: protocol.LineResponseItem, Payload: raw,
	}})
}

func TestContextSearchFindsTextsOfAllItems(t *testing.T) {
	for _, c := range []struct {
		params protocol.ContextSearchParams
		want   string
	}{
		{protocol.ContextSearchParams{Query: "BUILD"}, "r0×1 r1×1 r2×2"},
		{protocol.ContextSearchParams{Query: "Build", MatchCase: true}, "r0×1"},
		{protocol.ContextSearchParams{Query: "b.*d", Regex: true}, "r0×1 r1×1 r2×1"},
		{protocol.ContextSearchParams{Query: "b.*d"}, ""},
		{protocol.ContextSearchParams{Query: "x*", Regex: true}, ""},
		{protocol.ContextSearchParams{Query: "l*", Regex: true}, "r0×2 r1×2 r2×93 r3×1"},
		{protocol.ContextSearchParams{Query: "STRAßE"}, "r3×1"},
		{protocol.ContextSearchParams{Query: `SHELL {"com`}, "r1×1"},
		{protocol.ContextSearchParams{Query: ":\n\tBuild"}, "r2×1"},
		{protocol.ContextSearchParams{Query: "\x1b[31MMain"}, "r2×1"},
		{protocol.ContextSearchParams{Query: `^\tbuild`, Regex: true}, ""},
		{protocol.ContextSearchParams{Query: `(?m)^\tbuild`, Regex: true}, "r2×1"},
		{protocol.ContextSearchParams{Query: "build", Categories: []protocol.ContextCategory{
			protocol.CategoryToolOutput, protocol.CategoryReasoning,
		}}, "r2×2"},
	} {
		answer, err := view.SearchContext(searchable(t), &c.params)
		require.Nil(t, err)
		var got []string
		for i, m := range answer.Data {
			require.Equal(t, answer.IDs[i], m.ID)
			got = append(got, fmt.Sprintf("%s×%d", m.ID, m.Count))
		}
		require.Equal(t, c.want, strings.Join(got, " "), "%+v", c.params)
	}
}

func TestContextSearchShowsTheFirstMatchOnOneLine(t *testing.T) {
	answer, err := view.SearchContext(searchable(t), &protocol.ContextSearchParams{
		Query: "BUILD", Categories: []protocol.ContextCategory{protocol.CategoryToolOutput},
	})
	require.Nil(t, err)
	m := answer.Data[0]
	require.Equal(t, "…ne line line line line main.go:3: ", m.Before)
	require.Equal(t, "build", m.Match)
	require.Equal(t, " failed, build again"+strings.Repeat(" line", 20)+"…", m.After)
	require.Equal(t, 2, m.Index)
	require.Equal(t, protocol.CategoryToolOutput, m.Category)
}

func TestContextSearchPricesWhatTheNextRequestHas(t *testing.T) {
	h := searchable(t)
	query := protocol.ContextSearchParams{Query: "build"}
	before, err := view.SearchContext(h, &query)
	require.Nil(t, err)
	require.Equal(t, 3, before.InPrompt)
	var sum int64
	for _, m := range before.Data {
		sum += m.Tokens
	}
	require.Equal(t, sum, before.Tokens)

	plan, err := h.Plan(&protocol.SetInclusion{ContextTargets: protocol.ContextTargets{IDs: []string{"r0"}}}, nil)
	require.Nil(t, err)
	raw, err2 := protocol.Marshal(h.Encode(plan))
	require.NoError(t, err2)
	h.ApplyEdit(&history.Line{Ordinal: 4, RolloutLine: protocol.RolloutLine{
		Ordinal: new(int64(4)), Type: protocol.LineContextEdit, Payload: raw,
	}})
	after, err := view.SearchContext(h, &query)
	require.Nil(t, err)
	require.Equal(t, 2, after.InPrompt)
	require.False(t, after.Data[0].InPrompt)
	require.Equal(t, before.Tokens-before.Data[0].Tokens, after.Tokens)
}

// TestContextSearchFindsRemovedItems finds what a deletion, a trim and a compaction took out, and nothing of
// reverted turns or of edits that are undone.
func TestContextSearchFindsRemovedItems(t *testing.T) {
	h := &history.History{}
	for i := range int64(5) {
		addItem(t, h, i, history.UserMessage(fmt.Sprintf("message %d", i)))
	}
	line := func(ordinal int64, payload string) *history.Line {
		return &history.Line{Ordinal: ordinal, RolloutLine: protocol.RolloutLine{Payload: json.RawMessage(payload)}}
	}
	h.ApplyEdit(line(5, `{"op":"delete","ids":["r3"]}`))
	h.ApplyTrimPoint(line(6, `{"id":"p","keep_from":"r1"}`))
	h.ApplyCompacted(line(7, `{"message":"","replacement_history":[]}`))
	h.ApplyEdit(line(8, `{"op":"undo","target":7}`))
	h.ApplyCompacted(line(9, `{"message":"","trim_point":{"id":"q","keep_from":"r2"}}`))
	addItem(t, h, 10, history.UserMessage("message 10"))
	addItem(t, h, 11, history.UserMessage("message 11"))
	h.Revert(line(12, `{}`), 11, 0)
	query := protocol.ContextSearchParams{Query: "message", IncludeRemoved: true, Limit: new(uint32(4))}
	var got []string
	for more := true; more; more = query.Cursor != nil {
		answer, err := view.SearchContext(h, &query)
		require.Nil(t, err)
		require.Len(t, answer.IDs, 6)
		require.Equal(t, 3, answer.InPrompt)
		for _, m := range answer.Data {
			state := "listed"
			if m.State != nil {
				state = string(*m.State)
			}
			require.Equal(t, m.State == nil, m.InPrompt)
			got = append(got, fmt.Sprintf("%s %d %s", m.ID, m.Index, state))
		}
		query.Cursor = answer.NextCursor
	}
	require.Equal(t, "r0 -1 trimmed, r1 -1 compacted, r2 1 listed, r3 -1 deleted, r4 2 listed, r10 3 listed",
		strings.Join(got, ", "))

	query.IncludeRemoved, query.Cursor = false, nil
	answer, err := view.SearchContext(h, &query)
	require.Nil(t, err)
	require.Equal(t, []string{"r2", "r4", "r10"}, answer.IDs)
}

func TestContextSearchReadsPages(t *testing.T) {
	h := &history.History{}
	for i := range int64(25) {
		addItem(t, h, i, history.UserMessage(fmt.Sprintf("message %d", i)))
	}
	query := protocol.ContextSearchParams{Query: "message .*[02468]$", Regex: true, Limit: new(uint32(4))}
	var got []string
	for more := true; more; more = query.Cursor != nil {
		answer, err := view.SearchContext(h, &query)
		require.Nil(t, err)
		require.Len(t, answer.IDs, 13)
		for _, m := range answer.Data {
			got = append(got, m.ID)
		}
		query.Cursor = answer.NextCursor
	}
	require.Equal(t, strings.Fields("r0 r2 r4 r6 r8 r10 r12 r14 r16 r18 r20 r22 r24"), got)
}

func TestContextSearchRefusesWhatItCannotSearch(t *testing.T) {
	for _, c := range []struct {
		params protocol.ContextSearchParams
		want   string
	}{
		{protocol.ContextSearchParams{}, "the query has 0 characters, but must have 1 to 1000"},
		{protocol.ContextSearchParams{Query: strings.Repeat("ä", 1001)}, "the query has 1001 characters"},
		{protocol.ContextSearchParams{Query: "a(", Regex: true}, "missing closing ): `a(`"},
		{protocol.ContextSearchParams{Query: "a", Cursor: new("r99")}, "invalid cursor: r99"},
	} {
		_, err := view.SearchContext(searchable(t), &c.params)
		require.NotNil(t, err)
		require.Contains(t, err.Message, c.want)
	}
}
