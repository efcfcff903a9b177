package transcript

import (
	"encoding/gob"
	"slices"

	"appserver/core/lineref"
	"appserver/protocol"
)

// turnColumns is a block of turns. Roots has the turns whose root is another turn, Errs the turns that
// failed. Records has the number of items of each turn. The columns of the items follow.
type turnColumns struct {
	ID                   []string
	Roots                map[int32]string
	Status               []string
	Errs                 map[int32][]byte
	Flags                []uint8
	Started, Ended, Took []int64
	// Before is the usage before each turn, in total and of the last request. Window is the context
	// window.
	Before  [][2]protocol.TokenUsageBreakdown
	Window  []int64
	Records []int32
	Line    []int32
	Speaker []uint8
	Number  []int64
	// More has the further lines of items, by the index of the item.
	More map[int32][]int32
}

// The flags of a turn.
const (
	turnStarted = 1 << iota
	turnCompleted
	turnTook
	turnHasIDs
	turnIsOver
	turnWindow
)

func writeTurns(out *gob.Encoder, turns []Turn) error {
	c := turnColumns{Roots: map[int32]string{}, Errs: map[int32][]byte{}, More: map[int32][]int32{}}
	for i := range turns {
		if err := c.add(int32(i), &turns[i]); err != nil {
			return err
		}
	}
	return out.Encode(&c)
}

func (c *turnColumns) add(at int32, t *Turn) error {
	bitOf := func(bit uint8, set bool) uint8 {
		if set {
			return bit
		}
		return 0
	}
	flags := bitOf(
		turnStarted,
		t.StartedAt != nil,
	) | bitOf(
		turnCompleted,
		t.CompletedAt != nil,
	) | bitOf(
		turnTook,
		t.DurationMs != nil,
	) |
		bitOf(
			turnHasIDs,
			t.hasIDs,
		) | bitOf(
		turnIsOver,
		t.ended,
	) | bitOf(
		turnWindow,
		t.UsageBefore.ModelContextWindow != nil,
	)
	c.ID, c.Status, c.Flags = append(c.ID, t.ID), append(c.Status, string(t.Status)), append(c.Flags, flags)
	c.Started, c.Ended, c.Took = append(
		c.Started,
		valueOrZero(t.StartedAt),
	), append(
		c.Ended,
		valueOrZero(t.CompletedAt),
	), append(
		c.Took,
		valueOrZero(t.DurationMs),
	)
	c.Before = append(c.Before, [2]protocol.TokenUsageBreakdown{t.UsageBefore.Total, t.UsageBefore.Last})
	c.Window = append(c.Window, valueOrZero(t.UsageBefore.ModelContextWindow))
	if t.Root != t.ID {
		c.Roots[at] = t.Root
	}
	c.Records = append(c.Records, int32(len(t.items)))
	for _, r := range t.items {
		for _, part := range r.more {
			c.More[int32(len(c.Line))] = append(c.More[int32(len(c.Line))], part.Line)
		}
		c.Line, c.Speaker, c.Number = append(c.Line, r.Line), append(c.Speaker, uint8(r.speaker)), append(c.Number, r.number)
	}
	if t.Err == nil {
		return nil
	}
	raw, err := protocol.Marshal(t.Err)
	c.Errs[at] = raw
	return err
}

func valueOrZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func (t *Transcript) readTurns(in *gob.Decoder, from *lineref.Source) error {
	var c turnColumns
	if err := in.Decode(&c); err != nil {
		return err
	}
	n, records := len(c.ID), len(c.Line)
	bad := func(column []int64) bool { return len(column) != n }
	if n == 0 || len(c.Status) != n || len(c.Flags) != n || len(c.Before) != n || len(c.Records) != n ||
		slices.ContainsFunc([][]int64{c.Started, c.Ended, c.Took, c.Window}, bad) ||
		len(c.Speaker) != records ||
		len(c.Number) != records {
		return errSnapshot
	}
	next := 0
	for i := range int32(n) {
		end := next + int(c.Records[i])
		if end < next || end > records {
			return errSnapshot
		}
		turn, err := c.turn(i)
		if err != nil {
			return err
		}
		turn.items = make([]Item, 0, end-next)
		for ; next < end; next++ {
			turn.items = append(turn.items, c.record(next, from))
		}
		t.indices[turn.ID] = len(t.turns)
		t.turns = append(t.turns, turn)
	}
	return nil
}

func (c *turnColumns) record(i int, from *lineref.Source) Item {
	r := Item{
		Ref:     lineref.Ref{Source: from, Line: c.Line[i], Part: lineref.Whole},
		speaker: speaker(c.Speaker[i]),
		number:  c.Number[i],
	}
	for _, line := range c.More[int32(i)] {
		r.more = append(r.more, lineref.Ref{Source: from, Line: line, Part: lineref.Whole})
	}
	return r
}

func (c *turnColumns) turn(i int32) (t Turn, err error) {
	flags, b := c.Flags[i], c.Before[i]
	t = Turn{
		ID: c.ID[i], Root: c.ID[i], Status: protocol.TurnStatus(c.Status[i]), hasIDs: flags&turnHasIDs != 0,
		ended:     flags&turnIsOver != 0,
		StartedAt: pointerIf(c.Started[i], flags&turnStarted), CompletedAt: pointerIf(c.Ended[i], flags&turnCompleted),
		DurationMs: pointerIf(c.Took[i], flags&turnTook),
		UsageBefore: protocol.ThreadTokenUsage{
			Total:              b[0],
			Last:               b[1],
			ModelContextWindow: pointerIf(c.Window[i], flags&turnWindow),
		},
	}
	if root, other := c.Roots[i]; other {
		t.Root = root
	}
	if raw, failed := c.Errs[i]; failed {
		err = protocol.Unmarshal(raw, &t.Err)
	}
	return t, err
}

func pointerIf(n int64, present uint8) *int64 {
	if present == 0 {
		return nil
	}
	return &n
}
