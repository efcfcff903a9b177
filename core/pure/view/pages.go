package view

import (
	"appserver/core/pure/page"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// TurnsQuery selects a page of turns, by default the latest ones with summaries of their items.
type TurnsQuery struct {
	Cursor    *string
	Limit     *uint32
	Ascending bool
	ItemsView string
}

// ItemsQuery selects a page of completed items, by default the first ones. If Turn is not nil, the
// page has items of this turn only.
type ItemsQuery struct {
	Turn       *string
	Cursor     *protocol.ThreadItemCursor
	Limit      *uint32
	Descending bool
}

// The default and the largest number of entries on a page.
const (
	turnsPage, maxTurnsPage             = 25, 100
	itemsPage, maxItemsPage             = 100, 1000
	checkpointsPage, maxCheckpointsPage = 25, 100
)

// TurnsPage returns a page of turns.
func (t *Thread) TurnsPage(q TurnsQuery) (answer protocol.ThreadTurnsListResponse, err *protocol.Error) {
	order, length := page.Descending, t.Transcript.TurnCount()
	if q.Ascending {
		order = page.Ascending
	}
	begin := order.Begin(length)
	if q.Cursor != nil {
		c, ok := t.readEntry(*q.Cursor, turnsList)
		at, found := t.Transcript.IndexOf(c.ID)
		if !ok || !found {
			return answer, errCursor("cursor", *q.Cursor)
		}
		begin = beginAt(order, at, c.Inclusive)
	}
	turns, more := order.Indices(begin, length, page.Size(q.Limit, turnsPage, maxTurnsPage), nil)
	answer.Data = make([]protocol.Turn, len(turns))
	for i, at := range turns {
		answer.Data[i] = t.turn(t.Transcript.Turn(at), q.ItemsView)
	}
	if n := len(turns); n > 0 {
		answer.BackwardsCursor = t.turnCursor(turns[0], true)
		if more {
			answer.NextCursor = t.turnCursor(turns[n-1], false)
		}
	}
	return answer, nil
}

// beginAt returns the begin of a page at an entry or after it.
func beginAt(order page.Direction, index int, inclusive bool) int {
	if inclusive {
		return index
	}
	return order.Next(index)
}

func (t *Thread) turnCursor(index int, inclusive bool) *string {
	return new(encodeCursor(entryCursor{
		Thread: t.ID, List: turnsList, ID: t.Transcript.TurnID(index), Inclusive: inclusive,
	}))
}

// LastCursors returns the cursors of the last turn and of the last item, or nil if there is none.
func (t *Thread) LastCursors() (turn, item *string) {
	if n := t.Transcript.TurnCount(); n > 0 {
		turn = t.turnCursor(n-1, true)
	}
	for i := t.Transcript.EventCount() - 1; i >= 0; i-- {
		if e := t.Transcript.Event(i); e.Item >= 0 {
			return turn, t.itemCursor(e, true)
		}
	}
	return turn, nil
}

// ItemsPage returns a page of items.
func (t *Thread) ItemsPage(q ItemsQuery) (answer protocol.ThreadItemsListResponse, err *protocol.Error) {
	turn := transcript.None
	if q.Turn != nil {
		if index, found := t.Transcript.IndexOf(*q.Turn); found {
			turn = index
		}
	}
	event, length, order := t.Transcript.Event, t.Transcript.EventCount(), page.Ascending
	if q.Descending {
		order = page.Descending
	}
	begin := order.Begin(length)
	if q.Cursor != nil {
		at, inclusive, err := t.findItem(q.Cursor, q.Turn, turn)
		if err != nil {
			return answer, err
		}
		begin = beginAt(order, at, inclusive)
	}
	fits := func(i int) bool { return event(i).Item >= 0 && (q.Turn == nil || int(event(i).Turn) == turn) }
	items, more := order.Indices(begin, length, page.Size(q.Limit, itemsPage, maxItemsPage), fits)
	answer.Data = make([]protocol.ThreadItemEntry, len(items))
	for i, at := range items {
		answer.Data[i] = t.itemEntry(event(at))
	}
	if n := len(items); n > 0 {
		answer.BackwardsCursor = t.itemCursor(event(items[0]), true)
		if more {
			answer.NextCursor = t.itemCursor(event(items[n-1]), false)
		}
	}
	return answer, nil
}

func (t *Thread) itemEntry(e transcript.Event) protocol.ThreadItemEntry {
	item := t.Transcript.ItemAt(e).ThreadItem()
	return protocol.ThreadItemEntry{
		TurnID: t.Transcript.TurnID(int(e.Turn)), Item: item,
		StartedAtMs: item.StartedAtMs, CompletedAtMs: item.CompletedAtMs,
	}
}

func (t *Thread) itemCursor(e transcript.Event, inclusive bool) *string {
	return new(encodeCursor(entryCursor{
		Thread: t.ID, List: itemsList, Position: e.Position, ID: t.Transcript.ItemAt(e).ID(), Inclusive: inclusive,
	}))
}

// findItem returns the index of the event that a cursor names. turn is the index of the turn with
// turnID, or None.
func (t *Thread) findItem(
	cursor *protocol.ThreadItemCursor, turnID *string, turn int,
) (index int, inclusive bool, err *protocol.Error) {
	if cursor.ItemID != "" {
		index, err = t.findAnchor(cursor.ItemID, turnID, turn)
		return index, false, err
	}
	c, ok := t.readEntry(cursor.Page, itemsList)
	if ok {
		index, ok = t.eventOf(c.Position, c.ID)
	}
	if !ok {
		err = errCursor("cursor", cursor.Page)
	}
	return index, c.Inclusive, err
}

// eventOf returns the index of the item with an id whose line has an ordinal.
func (t *Thread) eventOf(position int64, id string) (index int, found bool) {
	for i := t.Transcript.EventFrom(position); i < t.Transcript.EventCount(); i++ {
		e := t.Transcript.Event(i)
		if e.Position != position {
			break
		}
		if e.Item >= 0 && t.Transcript.ItemAt(e).ID() == id {
			return i, true
		}
	}
	return 0, false
}

// findAnchor returns the index of the last item of a turn with an id.
func (t *Thread) findAnchor(itemID string, turnID *string, turn int) (index int, err *protocol.Error) {
	if turnID == nil {
		return 0, protocol.InvalidParams("turnId", "`turnId` is required if `cursor` names an item")
	}
	if turn != transcript.None {
		if index, found := t.Transcript.LastItem(turn, itemID); found {
			return index, nil
		}
	}
	return 0, protocol.InvalidParams("cursor.itemId", "turn %s has no item %s", *turnID, itemID)
}

// CheckpointsPage returns the indices of a page of checkpoints, the newest first, and the cursor of
// the next page, or nil. length is the number of checkpoints. find returns the index of the checkpoint
// with an id, or -1; id is its inverse. Index 0 is the oldest one.
func (t *Thread) CheckpointsPage(
	length int, find func(id string) int, id func(index int) string, cursor *string, limit *uint32,
) (indices []int, next *string, err *protocol.Error) {
	begin := page.Descending.Begin(length)
	if cursor != nil {
		c, ok := t.readEntry(*cursor, checkpointsList)
		at := find(c.ID)
		if !ok || at < 0 {
			return nil, nil, errCursor("cursor", *cursor)
		}
		begin = page.Descending.Next(at)
	}
	size := page.Size(limit, checkpointsPage, maxCheckpointsPage)
	indices, more := page.Descending.Indices(begin, length, size, nil)
	if more {
		last := id(indices[len(indices)-1])
		next = new(encodeCursor(entryCursor{Thread: t.ID, List: checkpointsList, ID: last}))
	}
	return indices, next, nil
}
