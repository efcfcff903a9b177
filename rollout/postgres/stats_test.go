package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
	"appserver/rollout/listing"
)

// TestStatsCountAppendsByTheirResult appends to a thread as its owner, at a wrong ordinal, and as a former
// owner.
func TestStatsCountAppendsByTheirResult(t *testing.T) {
	t.Parallel()
	db, ctx := open(t), context.Background()
	node := fleet.Node{ID: "one", Incarnation: "x"}
	_, err := db.Join(ctx, node)
	require.NoError(t, err)
	const id = "0190a6f8-1111-7aaa-8bbb-000000000001"
	old, err := db.Create(ctx, id, node, fleet.ContentOf(fleet.Head{Head: listing.Head{ID: id}}))
	require.NoError(t, err)
	own, err := db.Take(ctx, id, node)
	require.NoError(t, err)
	require.NoError(t, db.Append(ctx, own, 0, [][]byte{[]byte("four"), []byte("five!")}, nil))
	var order *fleet.OrderError
	require.ErrorAs(t, db.Append(ctx, own, 9, [][]byte{[]byte("six")}, nil), &order)
	require.ErrorIs(t, db.Append(ctx, old, 2, [][]byte{[]byte("six")}, nil), fleet.ErrFenced)
	require.ErrorIs(t, db.Release(ctx, old), fleet.ErrFenced)
	s := db.Stats()
	require.Equal(t, []int64{1, 2, 9}, []int64{s.Appends, s.Lines, s.Bytes})
	require.Equal(t, map[string]int64{"fenced": 1, "order": 1, "in_doubt": 0, "other": 0}, s.Failed)
	require.EqualValues(t, 2, s.FencedWrites)
	require.EqualValues(t, 3, s.Seconds.Count)
	require.Positive(t, s.Seconds.Sum)
	require.EqualValues(t, 3, s.BatchSizes.Counts[0], "each batch had one append")
	require.False(t, s.SyncStandby)
	require.Len(t, s.Pools, 3)
}

// TestHistogramsCountValuesUpToTheirBounds adds values at, between and above bounds.
func TestHistogramsCountValuesUpToTheirBounds(t *testing.T) {
	h := newHistogram(1000, []int64{1000, 2000})
	for _, value := range []int64{0, 1000, 1001, 2000, 2001} {
		h.add(value)
	}
	require.Equal(t, Histogram{Bounds: []float64{1, 2}, Counts: []int64{2, 4}, Count: 5, Sum: 6.002}, h.snapshot())
}

// TestQuantilesAreEstimatedBetweenBounds reads quantiles of values below, between and above bounds.
func TestQuantilesAreEstimatedBetweenBounds(t *testing.T) {
	require.Zero(t, Histogram{Bounds: []float64{1, 2}, Counts: []int64{0, 0}}.Quantile(0.99))
	h := Histogram{Bounds: []float64{1, 2, 4}, Counts: []int64{50, 90, 90}, Count: 100, Sum: 200}
	require.InDelta(t, 2, h.Mean(), 1e-9)
	for part, want := range map[float64]float64{0.25: 0.5, 0.5: 1, 0.7: 1.5, 0.9: 2, 0.99: 4} {
		require.InDelta(t, want, h.Quantile(part), 1e-9, "%v", part)
	}
	require.Zero(t, Histogram{}.Mean())
}
