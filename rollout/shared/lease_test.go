package shared

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
	"appserver/rollout/store"
)

// owner returns a journal of a node whose lease lasts until a time. No goroutine watches it.
func owner(until time.Time) *journal {
	l := &lease{node: fleet.Node{ID: "a", Incarnation: "first"}, until: until}
	l.valid, l.lose = context.WithCancelCause(context.Background())
	return &journal{threads: &Threads{lease: l}, id: "thread", valid: l.valid}
}

func TestAJournalIsLostAtTheEndOfItsLease(t *testing.T) {
	j := owner(time.Now())
	select {
	case <-j.Lost():
	default:
		t.Fatal("the journal is not lost")
	}
	var lost *store.LostError
	require.ErrorAs(t, j.Append(nil, true), &lost)
	node, _ := j.threads.lease.present()
	require.NotEqual(t, "first", node.Incarnation)
}

func TestAJournalIsNotLostDuringItsLease(t *testing.T) {
	j := owner(time.Now().Add(time.Hour))
	select {
	case <-j.Lost():
		t.Fatal("the journal is lost")
	default:
	}
	require.NoError(t, j.Append(nil, true))
}

// flaky is a driver whose Join fails.
type flaky struct {
	fleet.Driver
	fails func() bool
}

func (f flaky) Join(context.Context, fleet.Node) (time.Duration, error) {
	<-time.After(time.Millisecond) // of the test's clock
	if f.fails() {
		return 0, errors.New("unreachable")
	}
	return testTTL, nil
}

// testTTL is the default time to live.
const testTTL = 5 * time.Second

// TestALeaseSurvivesAShortFailure makes the database unreachable for a part of the time of a lease, from
// several moments on.
func TestALeaseSurvivesAShortFailure(t *testing.T) {
	for _, c := range []struct {
		from, to time.Duration
		losses   int64
	}{
		{time.Second, 2 * time.Second, 0}, {time.Second, 3 * time.Second, 0},
		{2 * time.Second, 4800 * time.Millisecond, 0}, {time.Second, 8 * time.Second, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, reported := time.Now(), 0
			fails := func() bool { d := time.Since(began); return d >= c.from && d < c.to }
			o := Options{Driver: flaky{fails: fails}, Node: fleet.Node{ID: "a"}, Report: func(error) { reported++ }}
			ctx, cancel := context.WithCancel(context.Background())
			l, ttl, err := newLease(ctx, o, nil)
			require.NoError(t, err)
			var all sync.WaitGroup
			all.Go(func() { l.keep(ctx, ttl) })
			<-time.After(20 * time.Second)
			cancel()
			all.Wait()
			require.Equal(t, c.losses, l.losses.Load(), "%v", c)
			require.Equal(t, 1, reported)
			require.Greater(t, l.failures.Load(), int64(1))
		})
	}
}
