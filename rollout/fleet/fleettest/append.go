package fleettest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
	"appserver/test/sample"
)

func appendsAreRead(t *testing.T, r *rig) {
	own := r.create("one", "two")
	require.NoError(t, r.append(own, 2, "three", ""))
	require.NoError(t, r.append(own, 4, "\x00\xff\n"))
	require.Equal(t, []string{"one", "two", "three", "", "\x00\xff\n"}, r.lines(own.ID))
	require.NoError(t, r.append(own, 5), "an append without lines is possible")
	place, err := r.Find(r.ctx, own.ID)
	require.NoError(t, err)
	require.Equal(t, int64(5), place.Next)
}

func anAppendIsAllOrNone(t *testing.T, r *rig) {
	own := r.create("one")
	stale := own
	stale.Epoch--
	require.ErrorIs(t, r.append(stale, 1, "two", "three"), fleet.ErrFenced)
	require.Error(t, r.append(own, 0, "two", "three"))
	require.Equal(t, []string{"one"}, r.lines(own.ID))
}

func anAppendKeepsTheOrder(t *testing.T, r *rig) {
	own := r.create("one", "two")
	for _, first := range []int64{0, 1, 3, 9} {
		var order *fleet.OrderError
		require.ErrorAs(t, r.append(own, first, "other"), &order)
		require.Equal(t, int64(2), order.Next)
	}
	var order *fleet.OrderError
	require.ErrorAs(t, r.append(own, 1, "two", "three"), &order, "a part of the lines is there")
	require.Equal(t, []string{"one", "two"}, r.lines(own.ID))
}

func aRepeatedAppendSucceeds(t *testing.T, r *rig) {
	own := r.create("one")
	for range 3 {
		require.NoError(t, r.append(own, 1, "two", "three"))
	}
	var order *fleet.OrderError
	require.ErrorAs(t, r.append(own, 1, "two", "drei"), &order, "the lines differ")
	require.Equal(t, []string{"one", "two", "three"}, r.lines(own.ID))
	require.NoError(t, r.append(own, 3, "four"))
	require.NoError(t, r.append(own, 1, "two", "three"))
}

func anEndedContextAppendsNothing(t *testing.T, r *rig) {
	own := r.create()
	ctx, cancel := context.WithCancel(r.ctx)
	cancel()
	err := r.Append(ctx, own, 0, raw("one"), nil)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, fleet.ErrInDoubt)
	require.Empty(t, r.lines(own.ID))
}

func largeLinesAreKept(t *testing.T, r *rig) {
	size := 64 << 20 / sample.Stride(8)
	own := r.create()
	line := noise(size)
	require.NoError(t, r.Append(r.ctx, own, 0, [][]byte{line, []byte("small")}, nil))
	require.NoError(t, r.Append(r.ctx, own, 0, [][]byte{line, []byte("small")}, nil), "a repeat compares the lines")
	seen := 0
	_, err := r.Read(r.ctx, own.ID, 0, func(ordinal int64, raw []byte) bool {
		seen++
		if ordinal == 0 {
			require.Equal(t, len(line), len(raw))
			require.True(t, string(line) == string(raw))
		}
		return true
	})
	require.NoError(t, err)
	require.Equal(t, 2, seen)
}

// manyThreadsAppendAtOnce appends to many threads. Some owners are stale, and some append with
// wrong ordinals; they must not disturb the others.
func manyThreadsAppendAtOnce(t *testing.T, r *rig) {
	const threads, appends = 60, 20
	owns := make([]fleet.Own, threads)
	for i := range owns {
		owns[i] = r.create("0")
	}
	var all sync.WaitGroup
	for i, own := range owns {
		all.Go(func() {
			for n := range int64(appends) {
				r.appendOne(t, i, own, n)
			}
		})
	}
	all.Wait()
	for i, own := range owns {
		want := []string{"0"}
		for n := range appends {
			if i%5 > 1 {
				want = append(want, fmt.Sprintf("%d of %d", n, i))
			}
		}
		require.Equal(t, want, r.lines(own.ID))
	}
}

func (r *rig) appendOne(t *testing.T, i int, own fleet.Own, n int64) {
	line := fmt.Sprintf("%d of %d", n, i)
	switch i % 5 {
	case 0:
		own.Epoch++
		if err := r.append(own, n+1, line); err != nil {
			require.ErrorIs(t, err, fleet.ErrFenced)
		} else {
			t.Error("a wrong epoch is accepted")
		}
	case 1:
		var order *fleet.OrderError
		if err := r.append(own, n+2, line); err == nil {
			t.Error("a wrong ordinal is accepted")
		} else {
			require.ErrorAs(t, err, &order)
		}
	case 2:
		h := headOf(line)
		require.NoError(t, r.Append(r.ctx, own, n+1, raw(line), &h))
	default:
		require.NoError(t, r.append(own, n+1, line))
	}
}

// appendsOfAThreadKeepTheirOrder calls Append again before the former call has returned. At least
// the first of two succeeds; the second does unless it was sent before.
func appendsOfAThreadKeepTheirOrder(t *testing.T, r *rig) {
	own := r.create()
	const appends = 50
	errs := make([]error, appends)
	var all sync.WaitGroup
	for n := range appends {
		all.Go(func() {
			for {
				errs[n] = r.append(own, int64(n), fmt.Sprint(n))
				if errs[n] == nil || n == 0 {
					return
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	for n, line := range r.lines(own.ID) {
		require.Equal(t, fmt.Sprint(n), line)
	}
}

func aReadStops(t *testing.T, r *rig) {
	var lines []string
	for n := range 2500 {
		lines = append(lines, fmt.Sprint(n))
	}
	own := r.create(lines...)
	require.Equal(t, lines, r.lines(own.ID))
	got := []string{}
	next, err := r.Read(r.ctx, own.ID, 1000, func(_ int64, raw []byte) bool {
		got = append(got, string(raw))
		return len(got) < 3
	})
	require.NoError(t, err)
	require.Equal(t, int64(1003), next)
	require.Equal(t, []string{"1000", "1001", "1002"}, got)
	next, err = r.Read(r.ctx, own.ID, 2500, func(int64, []byte) bool { return false })
	require.NoError(t, err)
	require.Equal(t, int64(2500), next)
}

func aClosedDriverAcceptsNothing(t *testing.T, r *rig) {
	own := r.create()
	require.NoError(t, r.Close())
	require.ErrorIs(t, r.append(own, 0, "one"), fleet.ErrClosed)
	_, err := r.Take(r.ctx, own.ID, r.a)
	require.ErrorIs(t, err, fleet.ErrClosed)
	require.NoError(t, r.Close())
}
