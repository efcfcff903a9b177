package acked

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// Mark is a unique word in an input of a turn.
type Mark struct{ Text, Turn string }

// AddInput records an acknowledged input.
func (th *Thread) AddInput(text, turn string) {
	th.AddTurn(turn)
	if !th.Reverted[turn] {
		th.Marks = append(th.Marks, Mark{text, turn})
	}
}

// AddTurn records a turn.
func (th *Thread) AddTurn(turn string) {
	if !slices.Contains(th.Turns, turn) && !th.Reverted[turn] {
		th.Turns = append(th.Turns, turn)
	}
}

// TurnsFrom returns a turn and all later ones, or all turns if it is unknown.
func (th *Thread) TurnsFrom(turn string) []string {
	return th.Turns[max(slices.Index(th.Turns, turn), 0):]
}

// RemoveTurns records that turns were reverted.
func (th *Thread) RemoveTurns(turns []string) {
	for _, turn := range turns {
		th.Reverted[turn] = true
		delete(th.Ended, turn)
	}
	th.Turns = slices.DeleteFunc(th.Turns, func(turn string) bool { return th.Reverted[turn] })
	th.Marks = slices.DeleteFunc(th.Marks, func(m Mark) bool { return th.Reverted[m.Turn] })
	maps.DeleteFunc(th.Items, func(id, _ string) bool { return th.Reverted[th.TurnOf[id]] })
}

// ResolveReverts decides from the state after a crash whether each unanswered revert was executed.
// A revert removes its turn and all later ones, or none.
func (th *Thread) ResolveReverts(t testing.TB, v apptest.ThreadView) {
	t.Helper()
	present := map[string]bool{}
	for _, turn := range v.Turns {
		present[turn.ID] = true
	}
	for _, first := range th.PendingReverts {
		turns := th.TurnsFrom(first)
		cut := slices.IndexFunc(turns, func(turn string) bool { return !present[turn] })
		if cut < 0 {
			continue
		}
		for _, turn := range turns[cut:] {
			require.False(t, present[turn], "turn %s remains, but %s before it is removed", turn, turns[cut])
		}
		th.RemoveTurns(slices.Clone(turns[cut:]))
	}
	th.PendingReverts = nil
}

// SharedRevert is a revert of a thread that other clients change meanwhile. It removes the turn First and
// all later ones that exist when it is executed.
type SharedRevert struct {
	First string
	// known are the turns to remove that were known when the revert was requested.
	known      []string
	isExecuted bool
}

// RequestRevert records the request of a SharedRevert. Call executed or rejected on its response.
func (th *Thread) RequestRevert(first string) (executed, rejected func()) {
	slices.Sort(th.Turns) // their ids are ordered, but not the notifications of several clients
	r := &SharedRevert{First: first, known: slices.Clone(th.TurnsFrom(first))}
	th.SharedReverts = append(th.SharedReverts, r)
	executed = func() {
		r.isExecuted = true
		th.RemoveTurns(r.known)
	}
	rejected = func() {
		th.SharedReverts = slices.DeleteFunc(th.SharedReverts, func(other *SharedRevert) bool { return other == r })
	}
	return executed, rejected
}

// MayBeReverted reports whether a SharedRevert has removed an item, or may have removed it.
func (th *Thread) MayBeReverted(item string) bool {
	turn := th.TurnOf[item]
	isAfter := func(r *SharedRevert) bool { return turn >= r.First }
	return th.Reverted[turn] || slices.ContainsFunc(th.SharedReverts, isAfter)
}

// ResolveSharedReverts decides from a view, while there are no requests, whether each unanswered revert
// was executed: it removed all turns that were known at its request, or none. Other turns that are gone
// began before a revert, but were reported after it. So no turn before them remains.
func (th *Thread) ResolveSharedReverts(t testing.TB, v apptest.ThreadView) {
	t.Helper()
	shown := map[string]bool{}
	for _, turn := range v.Turns {
		shown[turn.ID] = true
	}
	isGone := func(turn string) bool { return !shown[turn] }
	slices.Sort(th.Turns)
	for _, r := range th.SharedReverts {
		known := slices.DeleteFunc(slices.Clone(r.known), func(turn string) bool { return th.Reverted[turn] })
		gone := slices.DeleteFunc(slices.Clone(known), func(turn string) bool { return !isGone(turn) })
		if !r.isExecuted && len(gone) == 0 {
			continue
		}
		require.Equal(t, known, gone, "a revert to %s of thread %s removed some turns only", r.First, th.ID)
		th.RemoveTurns(known)
		later := slices.DeleteFunc(slices.Clone(th.Turns), func(turn string) bool { return turn < r.First })
		if end := slices.IndexFunc(later, func(turn string) bool { return !isGone(turn) }); end >= 0 {
			later = later[:end]
		}
		th.RemoveTurns(later)
	}
	th.SharedReverts = nil
}
