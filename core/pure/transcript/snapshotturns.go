package transcript

import (
	"appserver/core/pure/lineref"
	"appserver/core/pure/snapshot"
	"appserver/protocol"
)

// turnColumns is a block of turns, without their ids. Roots has the turns whose root is another turn, Errs those that
// failed. Records has the number of items of each turn. The columns of the items follow.
type turnColumns struct {
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

func encodeTurns(turns []Turn) (any, error) {
	c := &turnColumns{Roots: map[int32]string{}, Errs: map[int32][]byte{}, More: map[int32][]int32{}}
	for i := range turns {
		if err := c.add(int32(i), &turns[i]); err != nil {
			return nil, err
		}
	}
	return c, nil
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
	c.Status, c.Flags = append(c.Status, string(t.Status)), append(c.Flags, flags)
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

// decodeTurns returns the turns of a block. id returns the id of a turn of the block.
func decodeTurns(content []byte, id func(i int) string, from *lineref.Source) ([]Turn, error) {
	var c turnColumns
	if err := snapshot.Decode(content, &c); err != nil {
		return nil, err
	}
	turns, next := make([]Turn, len(c.Status)), 0
	all := make([]Item, len(c.Line)) // of all turns, so that they take one piece of memory
	for i := range turns {
		var err error
		if turns[i], err = c.turn(int32(i), id(i)); err != nil {
			return nil, err
		}
		end := next + int(c.Records[i])
		for k := next; k < end; k++ {
			all[k] = c.record(k, from)
		}
		turns[i].items = all[next:end:end]
		next = end
	}
	return turns, nil
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

func (c *turnColumns) turn(i int32, id string) (t Turn, err error) {
	flags, b := c.Flags[i], c.Before[i]
	t = Turn{
		ID: id, Root: id, Status: protocol.TurnStatus(c.Status[i]), hasIDs: flags&turnHasIDs != 0,
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
