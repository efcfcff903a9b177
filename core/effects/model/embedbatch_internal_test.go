package model

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBatchesTakeAboutASecond feeds the times of requests, and checks the size of the next one.
func TestBatchesTakeAboutASecond(t *testing.T) {
	for name, c := range map[string]struct {
		size, texts int
		took        time.Duration
		want        int
	}{
		"fast doubles":         {8, 8, time.Millisecond, 16},
		"no time":              {8, 8, 0, 16},
		"not above the most":   {64, 64, time.Millisecond, 64},
		"a bit too slow":       {16, 16, 2 * time.Second, 8},
		"far too slow":         {64, 64, time.Minute, 1},
		"slow with a rest":     {64, 10, 2 * time.Second, 5},
		"fast with a rest":     {32, 3, time.Millisecond, 32},
		"grows again from one": {1, 1, 300 * time.Millisecond, 2},
		"as it should be":      {20, 20, time.Second, 20},
	} {
		b := batchSize{size: c.size}
		b.answered(c.texts, c.took)
		require.Equal(t, c.want, b.get(), name)
	}
	b := batchSize{size: 64}
	for _, want := range []int{32, 16, 8, 4, 2, 1, 1} {
		b.failed(b.get())
		require.Equal(t, want, b.get())
	}
	b.failed(64)
	require.Equal(t, 1, b.get())
}
