package token

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAPanicWhileCountingPasses counts more texts than may wait, with an encoding that cannot be loaded.
func TestAPanicWhileCountingPasses(t *testing.T) {
	c := New()
	c.o200k.ready = func() *vocabulary { panic("no table") }
	texts := slices.Repeat([]string{"a text"}, 2*batchTexts*queuedBatches)
	require.PanicsWithValue(t, "no table", func() { c.CountAll("gpt-5", slices.Values(texts)) })
}
