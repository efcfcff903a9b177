package digest_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/pure/digest"
	"appserver/test/sample"
)

func TestAboutReturnsTheSentencesThatShareWords(t *testing.T) {
	const text = "We talked about the parser. The metrics endpoint listens on port 9137. It is for the dashboards.\n- Ports below 1024 are not used."
	for name, c := range map[string]struct {
		question string
		limit    int
		want     []string
	}{
		"other forms of words": {"which ports do the metrics use?", 200,
			[]string{"The metrics endpoint listens on port 9137.", "Ports below 1024 are not used."}},
		"the best where one fits": {"which ports do the metrics use?", 45,
			[]string{"The metrics endpoint listens on port 9137."}},
		"cut where none fits":     {"parser", 12, []string{"We talked a…"}},
		"the first without words": {"nothing of it", 200, []string{"We talked about the parser."}},
		"no room":                 {"parser", 0, []string{""}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, digest.About(text, c.question, c.limit)) })
	}
	require.Empty(t, digest.About("", "x", 10))
	require.Equal(t, []string{"指标端口是9137。"}, digest.About("我们谈了解析器。指标端口是9137。", "端口是什么？", 100))
}

func TestSharedCountsWordsOfTheQuestion(t *testing.T) {
	require.Equal(t, 2, digest.Shared("The metrics listen on a port.", "which ports do the metrics use?"))
	require.Zero(t, digest.Shared("", "which"))
}

// TestAboutIsAsLongAsItMayBe of any text, on one line each.
func TestAboutIsAsLongAsItMayBe(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 80).Draw(t, "limit")
		sentences := digest.About(rapid.String().Draw(t, "text"), rapid.String().Draw(t, "question"), limit)
		joined := strings.Join(sentences, " ")
		require.LessOrEqual(t, utf8.RuneCountInString(joined), limit)
		require.NotContains(t, joined, "\n")
		require.True(t, utf8.ValidString(joined))
	})
}
