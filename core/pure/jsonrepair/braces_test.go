package jsonrepair_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/jsonrepair"
)

func TestBracesCloseWithTheObject(t *testing.T) {
	for text, want := range map[string]bool{
		``: false, ` `: false, `{`: false, `{}`: true, ` {"a":{"b":[1]}} `: true, `{"a":"}`: false, `{"a":"\"}"`: false,
		`{"a":"\"}"}`: true, `{}}`: false, `{}{}`: false, `{} x`: false, `x{}`: false, `"{}"`: false, `[{}]`: false, `}{`: false,
	} {
		var whole, parts jsonrepair.Braces
		whole.Add(text)
		for i := range len(text) {
			parts.Add(text[i : i+1])
		}
		require.Equal(t, want, whole.Closed(), text)
		require.Equal(t, want, parts.Closed(), text)
	}
}
