package compaction_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/compaction"
	"appserver/core/history"
	"appserver/protocol"
)

// turns returns a context of n turns: a request, a call with a long output, and an answer.
func turns(n int) *compaction.Context {
	h := &history.History{}
	ordinal := int64(0)
	add := func(turn int, v protocol.ResponseItemVariant) {
		raw, err := protocol.Marshal(protocol.ResponseItem{ResponseItemVariant: v})
		if err != nil {
			panic(err)
		}
		ordinal++
		h.Add(
			&history.Line{
				RolloutLine: protocol.RolloutLine{Payload: raw},
				Ordinal:     ordinal,
				TurnID:      fmt.Sprintf("turn-%d", turn),
			},
		)
	}
	for turn := range n {
		call := fmt.Sprintf("call-%d", turn)
		add(turn, history.UserMessage(fmt.Sprintf("Request %d. Never use tabs.", turn)))
		add(turn, &protocol.FunctionCall{Name: "shell", CallID: call, Arguments: `{}`})
		add(
			turn,
			&protocol.FunctionCallOutput{CallID: call, Output: protocol.ToolOutput{Text: strings.Repeat("output ", 400)}},
		)
		add(
			turn,
			&protocol.Message{
				Role:    protocol.RoleAssistant,
				Content: []protocol.ContentItem{{Type: "output_text", Text: "Answer."}},
			},
		)
	}
	return &compaction.Context{History: h, PromptTokens: h.Usage(0).PromptTokens}
}

func rules() *compaction.Rules { return &compaction.Rules{KeepTurns: 1, UserTokens: 1000} }

func TestAPlanKeepsTheLastTurnsAndTheUsersWords(t *testing.T) {
	c := turns(3)
	p, found := c.Whole(rules(), 1)
	require.True(t, found)
	require.Equal(t, compaction.Plan{From: 8, Words: []int{0, 4}}, p)
	span := c.Span(p)
	require.Equal(t, []int{1, 2, 3, 5, 6, 7}, span.Places)
	require.Len(t, span.Conversation, 8, "the model reads the requests that stay, to understand the rest")
}

func TestAPlanReachesItsTarget(t *testing.T) {
	c := turns(6)
	for _, target := range []int64{5000, 3000, 2000} {
		p, found := c.ToTarget(rules(), 5, target)
		require.True(t, found)
		require.LessOrEqual(t, c.After(&compaction.Rules{Target: target, UserTokens: 1000}, p), target)
	}
}

func TestAPlanNeverSeparatesACallFromItsOutput(t *testing.T) {
	c := turns(1)
	p, found := c.ToTarget(rules(), 0, 1)
	require.True(t, found)
	require.NotEqual(t, 2, p.From)
}

func TestAnEmptyContextHasNoPlan(t *testing.T) {
	_, found := turns(0).ToTarget(rules(), 1, 0)
	require.False(t, found)
	_, found = turns(0).Whole(rules(), 1)
	require.False(t, found)
}

func TestTheRangeOfAnUnknownTurnIsRefused(t *testing.T) {
	_, _, err := turns(2).OfRange(rules(), &protocol.PruneRange{Word: protocol.RangeBeforeTurn, TurnID: "other"})
	require.Contains(t, err.Message, "turn other is not in the context")
}

func TestARangeOfOutputsIsRefused(t *testing.T) {
	_, found, err := turns(2).OfRange(rules(), &protocol.PruneRange{Word: protocol.RangeKeepLastOutputs, Count: 1})
	require.False(t, found)
	require.NotNil(t, err)
	require.Equal(t, "range.keepLastOutputs", err.Data.Field)
}

func TestMaskedOutputsCostLess(t *testing.T) {
	c := turns(3)
	p, _ := c.Whole(rules(), 1)
	require.Equal(t, []int{2, 6}, c.Maskable(p))
	require.Less(t, c.Masked(p), c.PromptTokens)
}

func TestSummariesOfModels(t *testing.T) {
	r, span := rules(), compaction.Span{Former: strings.Repeat("former ", 50)}
	_, flaw := r.Accept(&span, "half", "the answer reached its limit")
	require.Equal(t, "its summary is incomplete: the answer reached its limit", flaw)
	_, flaw = r.Accept(&span, " \n", "")
	require.Equal(t, "its summary is empty", flaw)
	text, flaw := r.Accept(&span, "Much shorter.", "")
	require.Empty(t, flaw)
	require.True(t, strings.HasPrefix(text, span.Former), "a short summary does not lose the former one")

	long, _ := r.Accept(&compaction.Span{}, strings.Repeat("x", 100_000), "")
	require.Contains(t, long, "the summary was too long")
	require.Less(t, len(long), 50_000)
}

func TestASummaryKeepsTheUsersConstraints(t *testing.T) {
	c := turns(2)
	p, _ := c.Whole(&compaction.Rules{}, 0)
	span := c.Span(p)
	text := rules().AddConstraints(&span, "The build is green.")
	require.Contains(t, text, "Never use tabs")
	again := rules().AddConstraints(&compaction.Span{Former: text}, "Later.")
	require.Contains(t, again, "Never use tabs", "the next summary has them, too")
}

func TestATranscriptFitsTheWindow(t *testing.T) {
	c := turns(10)
	p, _ := c.Whole(&compaction.Rules{}, 0)
	span := c.Span(p)
	window := int64(2000)
	require.LessOrEqual(t, c.Count(c.Transcript(&span, "Summarise.", &window)), window*8/10)
}
