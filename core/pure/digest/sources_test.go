package digest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/digest"
	"appserver/protocol"
)

func TestFindingsNameTheItemsOfEachFact(t *testing.T) {
	items := []protocol.ResponseItem{
		user("Never touch the lexer."),
		shell("a", "echo x > out.txt"), answer("a", "Exit code: 1\nWall time: 1.0 seconds\nOutput:\nno"),
		assistant("I decided to rewrite parse.go because it is simpler."),
		shell("b", "echo x > out.txt"), answer("b", "Exit code: 1\nWall time: 1.0 seconds\nOutput:\nno"),
		user("Never touch the lexer."),
		assistant("Should I also fix the docs?"),
	}
	require.Equal(t, []digest.Finding{
		{Kind: digest.FileChanged, Text: "out.txt", Items: []int{1, 4}},
		{Kind: digest.CommandRun, Text: "echo x > out.txt (exit 1): no", Items: []int{1, 4, 5}, Failed: true},
		{Kind: digest.Decision, Text: "I decided to rewrite parse.go because it is simpler.", Items: []int{3}},
		{Kind: digest.OpenQuestion, Text: "Should I also fix the docs?", Items: []int{7}},
		{Kind: digest.UserConstraint, Text: "Never touch the lexer.", Items: []int{0, 6}},
	}, digest.Of(items).Findings(items))
	require.Empty(t, digest.Facts{}.Findings(items))
}
