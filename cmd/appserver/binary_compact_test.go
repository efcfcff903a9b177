package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inOrder checks that texts stand in a text one behind the other.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		require.True(t, found, "%q is missing, or is before the one above it, in:\n%s", part, text)
		rest = after
	}
}

// compacts has a thread compacted by its model, and gives the text that the model summarised.
func (c *client) compacts(thread string, p *provider) string {
	c.t.Helper()
	c.call("thread/compact/start", object{"threadId": thread})
	require.Equal(c.t, "completed", c.awaitTurn().Status)
	asked := p.asked()
	return asked[len(asked)-1].last(c.t.(*testing.T)).Content
}

func TestBinaryCompactionsSummariseRequestsCallsAndOutcomesInOrder(t *testing.T) {
	onBothWires(t, binaryCompactionsSummariseRequestsCallsAndOutcomesInOrder)
}

func binaryCompactionsSummariseRequestsCallsAndOutcomesInOrder(t *testing.T, on wireAPI) {
	runs := func(script string) func(io.Writer) {
		return func(w io.Writer) { calling(w, len(script), runsShell(script), "") }
	}
	p := on.provider(t,
		runs("echo found nothing; exit 3"), says("The search failed."), says("Understood."),
		runs("seq 100000 199999"), says("Those are the numbers."), says("SUMMARY ONE, which tells at some length what was done"),
		says("Green it is."), says("SUMMARY TWO"))
	c := startServer(t, p.home(t))
	c.initialize()
	thread := c.startTrusted()
	c.turn(thread, "Search for the word.")
	c.turn(thread, "Never touch the lexer.")
	c.turn(thread, "Print the numbers.")
	text := c.compacts(thread, p)
	inOrder(t, text, "## User\nSearch for the word.", "shell: echo found nothing; exit 3", "found nothing", "## Assistant\nThe search failed.",
		"## User\nNever touch the lexer.", "## Assistant\nUnderstood.",
		"## User\nPrint the numbers.", "shell: seq 100000 199999", "100000", "left out", "199999", "## Assistant\nThose are the numbers.")
	require.Contains(t, text, "3", "the exit code")
	require.Less(t, len(text), 12<<10, "outputs are bounded")
	require.NotContains(t, text, "environment_context")

	c.turn(thread, "Make it green.")
	inOrder(t, c.compacts(thread, p), "## User\nSearch for the word.", "## User\nPrint the numbers.",
		"# Summary of the conversation before", "SUMMARY ONE", "# Conversation", "## User\nMake it green.", "## Assistant\nGreen it is.")
}

// TestBinaryProposalsSummariseTheSame drafts a compaction.
func TestBinaryProposalsSummariseTheSame(t *testing.T) {
	onBothWires(t, binaryProposalsSummariseTheSame)
}

func binaryProposalsSummariseTheSame(t *testing.T, on wireAPI) {
	p := on.provider(t, func(w io.Writer) { calling(w, 1, runsShell("echo ready"), "") }, says("Done."), says("SUMMARY"))
	c := startServer(t, p.home(t))
	c.initialize()
	thread := c.startTrusted()
	c.turn(thread, "Get ready.")
	c.call("thread/compact/propose", object{"threadId": thread})
	inOrder(t, p.asked()[2].last(t).Content, "## User\nGet ready.", "shell: echo ready", "ready", "## Assistant\nDone.")
}
