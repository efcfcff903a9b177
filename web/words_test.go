package web_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestWordsOfContextItemsAreThoseOfTheServer holds the words of the page and of the documentation to those that the
// commands print.
func TestWordsOfContextItemsAreThoseOfTheServer(t *testing.T) {
	page, docs := readText(t, "src/wire/contextwords.ts"), readText(t, "../docs/context.md")
	for _, c := range protocol.ContextCategories() {
		require.NotEmpty(t, c.Words())
		require.Contains(t, page, fmt.Sprintf("\t%s: %q,\n", c, c.Words()))
		require.Contains(t, docs, fmt.Sprintf("| `%s` | %s |", c, c.Words()))
	}
	for _, r := range protocol.NotSentReasons() {
		require.Contains(t, page, fmt.Sprintf("\t%s: %q,\n", r, r.Words()))
		require.Contains(t, docs, fmt.Sprintf("| `%s` | %s |", r, r.Words()))
	}
}

func readText(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}
