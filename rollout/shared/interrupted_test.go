package shared

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
)

// answer is the result of fleet.Driver.Interrupted.
type answer struct {
	ids  []string
	next time.Duration
	err  error
}

// scripted is a database that answers requests for interrupted threads in order.
type scripted struct {
	hanging
	answers []answer
	// asked are the times of the requests, and done is closed after the last answer.
	asked []time.Time
	done  chan struct{}
}

func (s *scripted) Nodes(context.Context) ([]fleet.Node, error) { return nil, nil }

func (s *scripted) Interrupted(context.Context, int) ([]string, time.Duration, error) {
	s.asked = append(s.asked, time.Now())
	next := s.answers[0]
	if s.answers = s.answers[1:]; len(s.answers) == 0 {
		close(s.done)
	}
	return next.ids, next.next, next.err
}

// TestInterruptedThreadsAreTakenWhenALeaseEnds compares the times at which a node asks for threads of dead
// nodes. Leases last 6 s.
func TestInterruptedThreadsAreTakenWhenALeaseEnds(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		driver := &scripted{done: make(chan struct{}), answers: []answer{
			{next: 4500 * time.Millisecond}, // a node that has renewed its lease, and dies
			{ids: []string{"one", "two"}, next: time.Second},
			{next: 0}, // without any lease
			{err: errors.New("the database is away")},
			{ids: make([]string, interruptedAtOnce), next: 5 * time.Second},
			{next: time.Hour}, // a node with another lease time
			{},
		}}
		all, err := Open(t.Context(), Options{Driver: driver, Node: fleet.Node{ID: "a", Incarnation: "x"}, Copies: dir,
			Timeout: time.Hour, Report: func(error) {}})
		require.NoError(t, err)
		began, taken := time.Now(), 0
		all.WatchInterrupted(func(string) { taken++ })
		<-driver.done
		require.NoError(t, all.Close())
		require.Equal(t, 2+interruptedAtOnce, taken)
		var pauses []time.Duration
		for _, at := range driver.asked {
			pauses = append(pauses, at.Sub(began))
			began = at
		}
		require.Equal(t, []time.Duration{6 * time.Second, 4500 * time.Millisecond, time.Second, 6 * time.Second,
			2 * time.Second, time.Second, 6 * time.Second}, pauses)
	})
}
