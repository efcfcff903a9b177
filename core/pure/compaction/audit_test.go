package compaction_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/compaction"
	"appserver/core/pure/digest"
	"appserver/core/pure/history"
	"appserver/protocol"
)

// spanOf returns the whole of a context whose user wrote messages.
func spanOf(messages ...string) compaction.Span {
	c := turns(1, messages...)
	p, _ := c.Whole(&compaction.Rules{}, 0)
	return c.Span(p)
}

func TestMissingRulesAreAddedWordForWord(t *testing.T) {
	span := spanOf("Uploads have at most 5 MB. Never push.", "Only edit core/a.go, and do not add more than two tests.")
	a := rules().Audit(&span, "Uploads have at most 8 MB. The user forbade pushes: never push.")
	require.Equal(t, "Uploads have at most 8 MB. The user forbade pushes: never push.\n\nRules of the user:\n"+
		"- Uploads have at most 5 MB.\n- Only edit core/a.go, and do not add more than two tests.", a.Text)
	require.Equal(t, []string{"Uploads have at most 5 MB.", "Only edit core/a.go, and do not add more than two tests."},
		a.RulesAdded)
	require.Equal(t, []string{"Uploads have at most 5 MB.", "Never push.",
		"Only edit core/a.go, and do not add more than two tests."}, a.Rules)
}

func TestASummaryThatKeepsAllRulesIsNotChanged(t *testing.T) {
	span := spanOf("Never push.")
	text := "All is well.\n\n**Rules of the user:**\n\n- never push\n\nThe end.\n"
	a := rules().Audit(&span, text)
	require.Equal(t, text, a.Text)
	require.Empty(t, a.RulesAdded)
	require.Equal(t, []string{"Never push."}, a.Rules)
}

func TestASummaryHasOneListOfRules(t *testing.T) {
	span := spanOf("Never push. Never tag.")
	a := rules().Audit(&span, "Done.\n\n## Rules of the user\n- Never push.\n* Be\n  brief.\n\nNext: the docs.")
	require.Equal(t, "Done.\n\nNext: the docs.\n\nRules of the user:\n- Never push.\n- Be brief.\n- Never tag.", a.Text)
}

func TestAnAddedRuleIsAboveTheNewerOnesOfTheSummary(t *testing.T) {
	span := spanOf("Never push.", "Never tag.", "You must push now.")
	a := rules().Audit(&span, "Done.\n\nRules of the user:\n- Be brief.\n- You must push now.")
	require.Equal(t, "Done.\n\nRules of the user:\n- Be brief.\n- Never push.\n- Never tag.\n- You must push now.", a.Text)
}

func TestARuleThatIsStatedAgainIsBelowTheSentenceThatWithdrewIt(t *testing.T) {
	span := spanOf("Never push.", "You may now push.", "Be quick. Never push.")
	require.Equal(t, []string{"You may now push.", "Never push."}, rules().Audit(&span, "Done.").Rules)
	span = spanOf("Never push.")
	span.FormerRules = []string{"Never push.", "You may now push."}
	require.Equal(t, []string{"You may now push.", "Never push."}, rules().Audit(&span, "Done.").Rules)
}

// A model can list more rules than the list has room for.
func TestALongListOfASummaryLeavesRoomForRulesOfTheUser(t *testing.T) {
	var text strings.Builder
	text.WriteString("Done.\n\nRules of the user:\n")
	for i := range 60 {
		fmt.Fprintf(&text, "- Must obey paragraph %d of the document.\n", i)
	}
	r := &compaction.Rules{Target: 5000}
	for message, want := range map[string][]string{"Go on.": nil, "Never push.": {"Never push."}} {
		span := spanOf(message)
		require.Equal(t, want, r.Audit(&span, text.String()).RulesAdded)
	}
}

// Each round has another summary of the former text. A paraphrase in one round does not cost the rule in the next.
func TestRulesOutliveFiveCompactionsByEachStrategy(t *testing.T) {
	first := []string{"Uploads have at most 5 MB. Never push to main without a review by Anna."}
	r := rules()
	for name, summarize := range map[string]func(s *compaction.Span, round int) string{
		"local":        func(s *compaction.Span, _ int) string { return r.Extract(s) },
		"userMessages": func(s *compaction.Span, _ int) string { return r.Requests(s) },
		"a model":      func(_ *compaction.Span, round int) string { return fmt.Sprintf("Round %d is done.", round) },
		"a model with other words": func(_ *compaction.Span, round int) string {
			if round%2 == 0 {
				return "Uploads must have at most 5 MB. Without a review by Anna, never push to main."
			}
			return fmt.Sprintf("Round %d is done.", round)
		},
		"in turns": func(s *compaction.Span, round int) string {
			return []string{r.Extract(s), r.Requests(s), "Nothing."}[round%3]
		},
	} {
		var a compaction.Audit
		for round := range 6 {
			span := spanOf(fmt.Sprintf("Always log step %d.", round))
			if round == 0 {
				span = spanOf(first...)
			}
			span.Former, span.FormerRules = a.Text, a.Rules
			a = r.Audit(&span, summarize(&span, round))
			require.Contains(t, a.Rules, "Uploads have at most 5 MB.", "%s, round %d", name, round)
			missing := digest.Facts{UserConstraints: a.Rules}.Missing(a.Text).UserConstraints
			require.Empty(t, missing, "%s, round %d: %s", name, round, a.Text)
		}
		require.Len(t, a.Rules, 7, name)
	}
}

// Threads of earlier versions, and of other programs, have no record of their rules.
func TestRulesInFormerTextsCarryOver(t *testing.T) {
	for _, head := range []string{"Rules of the user:", "The user also asked:", "The user asked to keep to:"} {
		span := spanOf("Go on.")
		span.Former = "They worked.\n\n" + head + "\n- Never tag.\n- [… 2 earlier left out …]\n\nState:\n- Done."
		require.Equal(t, "Later.\n\nRules of the user:\n- Never tag.", rules().Audit(&span, "Later.").Text, head)
		text := rules().Extract(&span)
		require.Contains(t, text, "They worked.\n\nState:\n- Done.")
		require.NotContains(t, text, "Never tag", "an extract leaves room for the list")
	}
}

func TestRemovedRulesStayRemoved(t *testing.T) {
	span := spanOf("Never push. Never tag. Never merge.")
	draft := rules().Audit(&span, "Done.")
	mine := "Mine: never tag.\n\nRules of the user:\n- Never merge."
	span.Removed = compaction.RemovedFrom(draft.Text, mine)
	require.Equal(t, []string{"Never push."}, span.Removed)
	a := rules().Audit(&span, mine)
	require.Equal(t, mine, a.Text)
	require.Equal(t, []string{"Never tag.", "Never merge."}, a.Rules)
	require.Empty(t, a.Lists().UserConstraints)
}

// A pasted document does not displace the rules of other messages, and its own ones that do not fit are losses.
func TestRulesAreBounded(t *testing.T) {
	var pasted strings.Builder
	for i := range 300 {
		fmt.Fprintf(&pasted, "You must obey paragraph %d of the document that I found somewhere.\n", i)
	}
	span := spanOf("Never push.", pasted.String(), "Never tag.")
	r := &compaction.Rules{Target: 5000}
	a := r.Audit(&span, "Done.")
	require.Contains(t, a.RulesAdded, "Never push.")
	require.Contains(t, a.RulesAdded, "Never tag.")
	require.LessOrEqual(t, len(a.Text), len("Done.")+1500, "half of a summary of 1,000 tokens")
	require.LessOrEqual(t, strings.Count(a.Text, "paragraph"), 6, "a quarter of the room")
	require.NotEmpty(t, a.Lists().UserConstraints)
	require.Equal(t, 100, len(a.RulesAdded)-2+len(a.Lists().UserConstraints)+a.Omitted)
}

func TestLossesHaveABudget(t *testing.T) {
	c := turns(1, "Go.")
	var answer strings.Builder
	for i := range 150 {
		fmt.Fprintf(&answer, "We decided to use library number %d for the layer that stores the lists of names.\n", i)
	}
	add(c, &protocol.Message{Role: protocol.RoleAssistant,
		Content: []protocol.ContentItem{{Type: protocol.ContentOutputText, Text: answer.String()}}})
	p, _ := c.Whole(&compaction.Rules{}, 0)
	span := c.Span(p)
	a := rules().Audit(&span, "Nothing.")
	require.Len(t, digest.Of(span.Items).Decisions, 150)
	require.Equal(t, 150, len(a.Losses)+a.Omitted)
	require.Positive(t, a.Omitted)
	raw, err := protocol.Marshal(a.Losses)
	require.NoError(t, err)
	require.LessOrEqual(t, len(raw), 6000+2)
	require.Greater(t, len(raw), 5500)
}

func TestMaskedFailuresAreLosses(t *testing.T) {
	c := turns(0)
	run := func(id, script, output string) {
		add(c, &protocol.FunctionCall{Name: "shell", CallID: id, Arguments: fmt.Sprintf(`{"command":%q}`, script)})
		add(c, &protocol.FunctionCallOutput{CallID: id, Output: protocol.ToolOutput{Text: output}})
	}
	long := strings.Repeat("line of an output\n", 40)
	run("a", "go vet ./...", "Exit code: 1\nWall time: 1.0 seconds\nOutput:\na.go:3:1: undefined: x\n"+long)
	run("b", "go build", "Exit code: 1\nWall time: 1.0 seconds\nOutput:\na.go:4:1: undefined: y\n"+long)
	run("c", "go build", "Exit code: 0\nWall time: 1.0 seconds\nOutput:\n"+long)
	p := compaction.Plan{From: -1}
	a := c.AuditMask(p, c.Maskable(p))
	require.Equal(t, []protocol.CompactionLoss{{Kind: "commandRun",
		Text: "go vet ./... (exit 1): a.go:3:1: undefined: x", ItemIDs: []string{c.Item(1).ID()}}}, a.Losses)
	require.Empty(t, c.AuditMask(p, []int{3, 5}).Losses)
}

// An automatic edit took the output of a failed command out before the compaction.
func TestAFailureIsAFactAfterItsOutputWasExcludedToSaveTokens(t *testing.T) {
	c := turns(1, "Test it.")
	add(c, &protocol.FunctionCall{Name: "shell", CallID: "test", Arguments: `{"command":"go test ./..."}`})
	add(c, &protocol.FunctionCallOutput{CallID: "test", Output: protocol.ToolOutput{
		Text: "Exit code: 1\nWall time: 2.0 seconds\nOutput:\na.go:3:1: undefined: x\n" + strings.Repeat("FAIL\n", 99)}})
	output := c.Len() - 1
	line := c.Encode(history.Plan{Op: protocol.EditExclude, Places: []int{output}})
	line.Notes = []string{"go test ./..."}
	raw, err := protocol.Marshal(line)
	require.NoError(t, err)
	c.ApplyEdit(&history.Line{RolloutLine: protocol.RolloutLine{Type: protocol.LineContextEdit, Payload: raw},
		Ordinal: int64(c.Len() + 1)})
	p, _ := c.Whole(&compaction.Rules{}, 0)
	span := c.Span(p)
	a := rules().Audit(&span, "Done.")
	require.Equal(t, []string{"go test ./... (exit 1): a.go:3:1: undefined: x"}, a.Lists().CommandsRun)
	require.Contains(t, c.Transcript(&span, "", nil), "a.go:3:1: undefined: x")
	require.NotContains(t, c.Transcript(&span, "", nil), "FAIL")
}
