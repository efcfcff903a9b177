package shared

import (
	"context"
	"testing"
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
