package e2e

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// inOrder requires that a text contains the parts in order.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		require.True(t, found, "%q is missing, or is before the one above it, in:\n%s", part, text)
		rest = after
	}
}

// compactByModel compacts a thread by its model, and returns the text that the model summarized.
func compactByModel(c *apptest.Client, thread string, p *apptest.Provider) string {
	c.T.Helper()
	c.Call("thread/compact/start", apptest.Object{"threadId": thread})
	require.Equal(c.T, "completed", c.AwaitTurn().Status)
	requests := p.Requests()
	return requests[len(requests)-1].LastMessage(c.T.(*testing.T)).Content
}

func TestCompactionSummarizesRequestsCallsAndOutcomesInOrder(t *testing.T) {
	apptest.OnBothWires(t, testCompactionSummarizesRequestsCallsAndOutcomesInOrder)
}

func testCompactionSummarizesRequestsCallsAndOutcomesInOrder(t *testing.T, on apptest.WireAPI) {
	runs := func(script string) func(io.Writer) {
		return func(w io.Writer) { apptest.WriteCalls(w, len(script), apptest.ShellCall(script), "") }
	}
	p := on.NewProvider(t,
		runs("echo found nothing; exit 3"), apptest.TextAnswer("The search failed."), apptest.TextAnswer("Understood."),
		runs("seq 100000 199999"), apptest.TextAnswer("Those are the numbers."),
		apptest.TextAnswer("SUMMARY ONE, which tells at some length what was done"),
		apptest.TextAnswer("Green it is."), apptest.TextAnswer("SUMMARY TWO"))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "Search for the word.")
	c.Turn(thread, "Never touch the lexer.")
	c.Turn(thread, "Print the numbers.")
	text := compactByModel(c, thread, p)
	inOrder(t, text, "## User\nSearch for the word.", "shell: echo found nothing; exit 3", "found nothing",
		"## Assistant\nThe search failed.",
		"## User\nNever touch the lexer.", "## Assistant\nUnderstood.",
		"## User\nPrint the numbers.", "shell: seq 100000 199999", "100000", "left out", "199999",
		"## Assistant\nThose are the numbers.")
	require.Contains(t, text, "3", "the exit code")
	require.Less(t, len(text), 12<<10, "outputs are bounded")
	require.NotContains(t, text, "environment_context")

	c.Turn(thread, "Make it green.")
	inOrder(t, compactByModel(c, thread, p), "## User\nSearch for the word.", "## User\nPrint the numbers.",
		"# Summary of the conversation before", "SUMMARY ONE", "# Conversation", "## User\nMake it green.",
		"## Assistant\nGreen it is.")
}

// TestDraftSummarizesAsCompactionDoes requires the input, the call, its output and the answer, in
// this order, in the summary request of a draft.
func TestDraftSummarizesAsCompactionDoes(t *testing.T) {
	apptest.OnBothWires(t, testDraftSummarizesAsCompactionDoes)
}

func testDraftSummarizesAsCompactionDoes(t *testing.T, on apptest.WireAPI) {
	p := on.NewProvider(t, func(w io.Writer) { apptest.WriteCalls(w, 1, apptest.ShellCall("echo ready"), "") },
		apptest.TextAnswer("Done."), apptest.TextAnswer("SUMMARY"))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "Get ready.")
	c.Call("thread/compact/propose", apptest.Object{"threadId": thread})
	inOrder(t, p.Requests()[2].LastMessage(t).Content, "## User\nGet ready.", "shell: echo ready", "ready", "## Assistant\nDone.")
}

// TestSmallWindowTakesMoreTurns keeps the user's older messages only as far as the window has room for them.
func TestSmallWindowTakesMoreTurns(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, slices.Repeat([]func(io.Writer){apptest.TextAnswer("Fine.")}, 32)...)
	c := apptest.StartServer(t, p.Home(t), "-c", "compaction.limit_percent=100")
	c.Initialize()
	fixed := promptTokens(c, c.StartTrusted())
	thread := c.StartThread(apptest.Object{"config": apptest.Object{"model_context_window": fixed + 500}})
	for turn := range 8 {
		ended := c.Turn(thread, fmt.Sprintf("Question %d.\n%s", turn, strings.Repeat("word ", 80)))
		require.Equal(t, "completed", ended.Status, "turn %d: %+v", turn, ended.Error)
	}
	require.LessOrEqual(t, promptTokens(c, thread), fixed+500)
}
