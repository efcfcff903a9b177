package core

import (
	"encoding/gob"
	"slices"

	"appserver/core/lineref"
	"appserver/protocol"
)

// turnColumns are a block of turns. Roots and Errs are those of turns that have another
// root than themselves, and that failed. Records are how many items each has, whose
// columns follow.
type turnColumns struct {
	ID                   []string
	Roots                map[int32]string
	Status               []string
	Errs                 map[int32][]byte
	Flags                []uint8
	Started, Ended, Took []int64
	// Before is what had been used when a turn began, in all and last, Window the model's.
	Before  [][2]protocol.TokenUsageBreakdown
	Window  []int64
	Records []int32
	Line    []int32
	Says    []uint8
	Number  []int64
	// More are the further lines of items, by their places among the records.
	More map[int32][]int32
}

// The flags of a turn.
const (
	turnStarted = 1 << iota
	turnCompleted
	turnTook
	turnWhole
	turnOver
	turnWindow
)

func writeTurns(out *gob.Encoder, turns []turnRecord) error {
	c := turnColumns{Roots: map[int32]string{}, Errs: map[int32][]byte{}, More: map[int32][]int32{}}
	for i := range turns {
		if err := c.add(int32(i), &turns[i]); err != nil {
			return err
		}
	}
	return out.Encode(&c)
}

func (c *turnColumns) add(at int32, t *turnRecord) error {
	flags := bitOf(turnStarted, t.startedAt != nil) | bitOf(turnCompleted, t.completedAt != nil) | bitOf(turnTook, t.durationMs != nil) |
		bitOf(turnWhole, t.whole) | bitOf(turnOver, t.ended) | bitOf(turnWindow, t.before.ModelContextWindow != nil)
	c.ID, c.Status, c.Flags = append(c.ID, t.id), append(c.Status, string(t.status)), append(c.Flags, uint8(flags))
	c.Started, c.Ended, c.Took = append(c.Started, orZero(t.startedAt)), append(c.Ended, orZero(t.completedAt)), append(c.Took, orZero(t.durationMs))
	c.Before = append(c.Before, [2]protocol.TokenUsageBreakdown{t.before.Total, t.before.Last})
	c.Window = append(c.Window, orZero(t.before.ModelContextWindow))
	if t.root != t.id {
		c.Roots[at] = t.root
	}
	c.Records = append(c.Records, int32(len(t.items)))
	for _, r := range t.items {
		for _, part := range r.more {
			c.More[int32(len(c.Line))] = append(c.More[int32(len(c.Line))], part.Line)
		}
		c.Line, c.Says, c.Number = append(c.Line, r.Line), append(c.Says, uint8(r.says)), append(c.Number, r.number)
	}
	if t.err == nil {
		return nil
	}
	raw, err := protocol.Marshal(t.err)
	c.Errs[at] = raw
	return err
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func (l *log) readTurns(in *gob.Decoder) error {
	var c turnColumns
	if err := in.Decode(&c); err != nil {
		return err
	}
	n, records := len(c.ID), len(c.Line)
	bad := func(column []int64) bool { return len(column) != n }
	if n == 0 || len(c.Status) != n || len(c.Flags) != n || len(c.Before) != n || len(c.Records) != n || slices.ContainsFunc([][]int64{c.Started, c.Ended, c.Took, c.Window}, bad) ||
		len(c.Says) != records || len(c.Number) != records {
		return errBlock
	}
	next := 0
	for i := range int32(n) {
		end := next + int(c.Records[i])
		if end < next || end > records {
			return errBlock
		}
		t, err := c.turn(i)
		if err != nil {
			return err
		}
		t.items = make([]itemRecord, 0, end-next)
		for ; next < end; next++ {
			t.items = append(t.items, c.record(next, l.from))
		}
		l.turnAt[t.id] = len(l.turns)
		l.turns = append(l.turns, t)
	}
	return nil
}

func (c *turnColumns) record(i int, from *lineref.Source) itemRecord {
	r := itemRecord{Ref: lineref.Ref{Source: from, Line: c.Line[i], Part: none}, says: speaker(c.Says[i]), number: c.Number[i]}
	for _, line := range c.More[int32(i)] {
		r.more = append(r.more, lineref.Ref{Source: from, Line: line, Part: none})
	}
	return r
}

func (c *turnColumns) turn(i int32) (t turnRecord, err error) {
	flags, b := c.Flags[i], c.Before[i]
	t = turnRecord{
		id: c.ID[i], root: c.ID[i], status: protocol.TurnStatus(c.Status[i]), whole: flags&turnWhole != 0, ended: flags&turnOver != 0,
		startedAt: unlessAbsent(c.Started[i], flags&turnStarted), completedAt: unlessAbsent(c.Ended[i], flags&turnCompleted),
		durationMs: unlessAbsent(c.Took[i], flags&turnTook),
		before:     protocol.ThreadTokenUsage{Total: b[0], Last: b[1], ModelContextWindow: unlessAbsent(c.Window[i], flags&turnWindow)},
	}
	if root, other := c.Roots[i]; other {
		t.root = root
	}
	if raw, failed := c.Errs[i]; failed {
		err = protocol.Unmarshal(raw, &t.err)
	}
	return t, err
}

func unlessAbsent(n int64, present uint8) *int64 {
	if present == 0 {
		return nil
	}
	return &n
}
