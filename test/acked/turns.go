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
