package model

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDurationsStayInBounds(t *testing.T) {
	require.Equal(t, 1500*time.Millisecond, duration(1.5, time.Second))
	for _, n := range []float64{0, -1, math.Inf(-1), math.NaN()} {
		require.Zero(t, duration(n, time.Second))
	}
	for _, n := range []float64{1e18, math.MaxFloat64, math.Inf(1)} {
		require.Equal(t, time.Duration(math.MaxInt64), duration(n, time.Second))
	}
}
