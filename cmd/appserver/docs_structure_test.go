package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocsGlossaryDefinesOnce requires one definition per word.
func TestDocsGlossaryDefinesOnce(t *testing.T) {
	text, err := os.ReadFile("../../docs/glossary.md")
	require.NoError(t, err)
	defined := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 2 || cells[0] == "| word" || strings.HasPrefix(cells[0], "| ---") {
			continue
		}
		word := strings.TrimPrefix(cells[0], "| ")
		require.False(t, defined[word], "docs/glossary.md defines %q twice", word)
		defined[word] = true
	}
	require.Greater(t, len(defined), 40)
}
