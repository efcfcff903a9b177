package compaction_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/compaction"
	"appserver/core/pure/history"
	"appserver/protocol"
)

// turns returns a context of n turns: requests, a call with a long output, and an answer.
func turns(n int, requests ...string) *compaction.Context {
	c := &compaction.Context{History: &history.History{}}
	for turn := range n {
		call := fmt.Sprintf("call-%d", turn)
		texts := requests
		if len(texts) == 0 {
			texts = []string{fmt.Sprintf("Request %d. Never use tabs.", turn)}
		}
		for _, text := range texts {
			addTo(c, turn, history.UserMessage(text))
		}
		addTo(c, turn, &protocol.FunctionCall{Name: "shell", CallID: call, Arguments: `{}`})
		addTo(c, turn,
			&protocol.FunctionCallOutput{CallID: call, Output: protocol.ToolOutput{Text: strings.Repeat("output ", 400)}})
		addTo(c, turn, &protocol.Message{Role: protocol.RoleAssistant,
			Content: []protocol.ContentItem{{Type: "output_text", Text: "Answer."}}})
	}
	c.PromptTokens = c.Usage(history.Tokens{}).PromptTokens
	return c
}

// add adds an item of the first turn.
func add(c *compaction.Context, v protocol.ResponseItemVariant) { addTo(c, 0, v) }

func addTo(c *compaction.Context, turn int, v protocol.ResponseItemVariant) {
	raw, err := protocol.Marshal(protocol.ResponseItem{ResponseItemVariant: v})
	if err != nil {
		panic(err)
	}
	c.Add(&history.Line{RolloutLine: protocol.RolloutLine{Payload: raw}, Ordinal: int64(c.Len() + 1),
		TurnID: fmt.Sprintf("turn-%d", turn)})
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
		require.LessOrEqual(t, c.TokensAfter(&compaction.Rules{Target: target, UserTokens: 1000}, p), target)
	}
}

func TestUsersWordsStayAsFarAsTheLimitAllows(t *testing.T) {
	c := &compaction.Context{History: &history.History{}}
	for turn := range 4 {
		addTo(c, turn, history.UserMessage(strings.Repeat("words ", 100)))
	}
	c.PromptTokens = c.Usage(history.LatinTokens(2000)).PromptTokens
	c.ActiveTurn = "turn-3"
	r := rules()
	r.Limit = 4000
	_, found := c.ToTarget(r, 5, 2000)
	require.False(t, found, "all of them fit")
	r.Limit = 2500
	p, found := c.ToTarget(r, 5, 2000)
	require.True(t, found)
	require.Empty(t, p.Words)
	require.Equal(t, 3, p.From)
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
	require.True(t, strings.HasPrefix(text, strings.TrimSpace(span.Former)), "a short summary keeps the former one")

	long, _ := r.Accept(&compaction.Span{}, strings.Repeat("x", 100_000), "")
	require.Contains(t, long, "the summary was too long")
	require.Less(t, len(long), 50_000)
}

func TestATranscriptFitsTheWindow(t *testing.T) {
	c := turns(10)
	p, _ := c.Whole(&compaction.Rules{}, 0)
	span := c.Span(p)
	window := int64(2000)
	require.LessOrEqual(t, c.Count(c.Transcript(&span, "Summarise.", &window)).All, window*8/10)
}

// In a small window, old requests and outputs go before the former summary does.
func TestATranscriptKeepsTheFormerSummary(t *testing.T) {
	c := turns(20)
	plan, _ := c.Whole(&compaction.Rules{}, 0)
	span := c.Span(plan)
	for i := range 200 {
		span.Earlier = append(span.Earlier, protocol.ResponseItem{ResponseItemVariant: history.UserMessage(
			fmt.Sprintf("Request %d. %s", i, strings.Repeat("Please do it well. ", 6)))})
	}
	span.Former = strings.Repeat("They decided something. ", 150) + "The end of the summary."
	window := int64(4000)
	text := c.Transcript(&span, "Summarise.", &window)
	require.LessOrEqual(t, c.Count(text).All, window*8/10)
	require.Contains(t, text, "The end of the summary.")
	require.Contains(t, text, "Request 199.")
	require.Contains(t, text, "# Conversation")
}
