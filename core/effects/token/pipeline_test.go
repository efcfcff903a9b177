package token_test

import (
	"slices"
	"strings"
	"testing"

	"appserver/core/effects/token"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/test/sample"
)

func TestAllTextsHaveTheCountsOfEachAlone(t *testing.T) {
	c := token.New()
	sample.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 0, 200).Draw(t, "texts")
		if rapid.Bool().Draw(t, "long") {
			texts = append(texts, strings.Repeat("A long text. ", 10_000))
		}
		model := rapid.SampledFrom([]string{"gpt-5", "gpt-4"}).Draw(t, "model")
		var want []int
		for _, text := range texts {
			want = append(want, c.Count(model, text))
		}
		require.Equal(t, want, c.CountAll(model, slices.Values(texts)))
	})
}

func TestAPanicOfTheTextsPasses(t *testing.T) {
	require.PanicsWithValue(t, "no more texts", func() {
		token.New().CountAll("gpt-5", func(yield func(string) bool) {
			for range 1000 {
				yield("a text")
			}
			panic("no more texts")
		})
	})
}
