package core

import (
	"cmp"
	"slices"
)

// chronicle is what of a thread can be listed in the order of its lines. The turns alone
// do not tell that order: an item may join a turn that is not the last one.
type chronicle struct {
	moments []moment
	// messages are the ordinals of what the user and the agent said.
	messages []int64
}

// moment is where a turn began or ended, or where one of its items was completed.
// Moments are many, so that they hold places only.
type moment struct {
	position int64 // the ordinal of the line
	turn     int32 // the place in log.turns
	item     int32 // the place in the turn's items, or one of those below
}

// The moments that are no items.
const (
	turnBegan int32 = -2
	turnEnded int32 = -1
)

// note adds a moment of a turn that has its place already.
func (l *log) note(ordinal int64, t *turnRecord, item int32) {
	l.moments = append(l.moments, moment{ordinal, int32(l.turnAt[t.id]), item})
}

// noteEnd adds the end of a turn. Further lines that end it change how it ended, not
// where: what was listed stays in its place.
func (l *log) noteEnd(ordinal int64, t *turnRecord) {
	if !t.ended {
		l.note(ordinal, t, turnEnded)
	}
	t.ended = true
}

// addItem adds a completed item to its turn.
func (l *log) addItem(ordinal int64, t *turnRecord, r itemRecord) {
	l.note(ordinal, t, int32(len(t.items)))
	t.items = append(t.items, r)
	if r.isMessage() {
		l.messages = append(l.messages, ordinal)
	}
}

// momentFrom is the place of the first moment at a position or behind it.
func (c *chronicle) momentFrom(position int64) int {
	i, _ := slices.BinarySearchFunc(c.moments, position, func(m moment, position int64) int { return cmp.Compare(m.position, position) })
	return i
}

// messagesBefore counts what the user and the agent said before a position.
func (c *chronicle) messagesBefore(position int64) int {
	n, _ := slices.BinarySearch(c.messages, position)
	return n
}

// beginOf is where a turn began, none where no line tells.
func (c *chronicle) beginOf(turn int) int64 {
	for _, m := range slices.Backward(c.moments) {
		if m.item == turnBegan && int(m.turn) == turn {
			return m.position
		}
	}
	return none
}
