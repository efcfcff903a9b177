package core

import (
	"appserver/core/transcript"
	"appserver/protocol"
)

// ListTurns asks for a page of the turns, ListItems for one of the completed items, of a
// turn where Turn is not nil.
type (
	ListTurns struct {
		To        protocol.Caller
		Cursor    *string
		Limit     *uint32
		Ascending bool
		ItemsView string // protocol.ItemsSummary where it is ""
	}
	ListItems struct {
		To         protocol.Caller
		Turn       *string
		Cursor     *protocol.ThreadItemCursor
		Limit      *uint32
		Descending bool
	}
)

func (in ListTurns) apply(s *step) { s.listTurns(in) }
func (in ListItems) apply(s *step) { s.listItems(in) }

// How many entries pages have where the client does not say, and at most.
const (
	turnsPage, turnsMost = 25, 100
	itemsPage, itemsMost = 100, 1000
)

// pageCursor names an entry, so that it is found whatever was added since. The page begins
// with it, or behind it.
type pageCursor struct {
	Thread string `json:"t"`
	Kind   string `json:"k"` // turns or items
	// Position is the ordinal of an item's line.
	Position int64  `json:"p,omitempty"`
	ID       string `json:"i"`
	Begins   bool   `json:"b,omitempty"`
}

func (c pageCursor) text() *string { return new(cursorText(c)) }

// readPageCursor reads a cursor of this thread.
func (t *Thread) readPageCursor(text, kind string) (c pageCursor, ok bool) {
	c, ok = readCursor[pageCursor](text)
	return c, ok && c.Thread == t.id && c.Kind == kind
}

// walk goes over places from a first one, up or down, and gives those that fit, at most a
// number of them. It tells whether there are more.
func walk(first, step, end, limit int, fits func(int) bool) (places []int, more bool) {
	for i := first; i >= 0 && i < end; i += step {
		switch {
		case !fits(i):
		case len(places) == limit:
			return places, true
		default:
			places = append(places, i)
		}
	}
	return places, false
}

// begin is where a walk begins without a cursor.
func begin(end int, descending bool) (first, step int) {
	if descending {
		return end - 1, -1
	}
	return 0, 1
}

func pageSize(asked *uint32, usual, most int) int {
	if asked == nil {
		return usual
	}
	return int(min(max(*asked, 1), uint32(most)))
}

func (s *step) listTurns(in ListTurns) {
	page, err := s.turnsPage(in)
	if err != nil {
		s.reject(in.To, err)
		return
	}
	s.reply(in.To, page)
}

func (t *Thread) turnsPage(in ListTurns) (page protocol.ThreadTurnsListResponse, err *protocol.Error) {
	first, step := begin(len(t.transcript.Turns()), !in.Ascending)
	if in.Cursor != nil {
		c, ok := t.readPageCursor(*in.Cursor, "turns")
		at := t.turnNumber(c.ID)
		if !ok || at < 0 {
			return page, errCursor("cursor", *in.Cursor)
		}
		if first = at; !c.Begins {
			first += step
		}
	}
	places, more := walk(first, step, len(t.transcript.Turns()), pageSize(in.Limit, turnsPage, turnsMost), func(int) bool { return true })
	page.Data = make([]protocol.Turn, len(places))
	for i, place := range places {
		page.Data[i] = t.turnPageView(t.transcript.Turn(place), in.ItemsView)
	}
	if n := len(places); n > 0 {
		page.BackwardsCursor = t.turnCursor(places[0], true)
		if more {
			page.NextCursor = t.turnCursor(places[n-1], false)
		}
	}
	return page, nil
}

func (t *Thread) turnCursor(place int, begins bool) *string {
	return pageCursor{Thread: t.id, Kind: "turns", ID: t.transcript.Turns()[place].ID, Begins: begins}.text()
}

// backwardsCursors returns the cursors of the last turn and of the last item, nil if there is none.
func (t *Thread) backwardsCursors() (turn, item *string) {
	if n := len(t.transcript.Turns()); n > 0 {
		turn = t.turnCursor(n-1, true)
	}
	for i := len(t.transcript.Events()) - 1; i >= 0; i-- {
		if t.transcript.Events()[i].Item >= 0 {
			return turn, t.itemCursor(i, true)
		}
	}
	return turn, nil
}

// initialPage returns the page of turns that a resuming client asks for, or nil.
func (t *Thread) initialPage(p *protocol.ThreadResumeInitialTurnsPageParams) *protocol.ThreadTurnsListResponse {
	if p == nil {
		return nil
	}
	page, _ := t.turnsPage(ListTurnsOf(p.Limit, p.SortDirection, p.ItemsView)) // without a cursor there is no error
	return &page
}

// ListTurnsOf returns the input for a page without a cursor.
func ListTurnsOf(limit *uint32, sortDirection, itemsView *string) ListTurns {
	in := ListTurns{Limit: limit, Ascending: sortDirection != nil && *sortDirection == "asc"}
	set(&in.ItemsView, itemsView)
	return in
}

// turnPageView shows a turn with as much of its items as the client wants.
func (t *Thread) turnPageView(r *transcript.Turn, view string) protocol.Turn {
	switch view {
	case protocol.ItemsFull:
		return t.turnView(r)
	case protocol.ItemsNotLoaded:
		return t.turnHead(r)
	}
	v := t.turnHead(r)
	v.Items, v.ItemsView = r.Summary(), protocol.ItemsSummary
	return v
}

func (s *step) listItems(in ListItems) {
	turn := none
	if in.Turn != nil {
		if turn = s.turnNumber(*in.Turn); turn < 0 {
			turn = len(s.transcript.Turns()) // fits no item
		}
	}
	fits := func(i int) bool {
		m := s.transcript.Events()[i]
		return m.Item >= 0 && (in.Turn == nil || int(m.Turn) == turn)
	}
	first, step := begin(len(s.transcript.Events()), in.Descending)
	if in.Cursor != nil {
		at, begins, err := s.findItem(in.Cursor, in.Turn, turn)
		if err != nil {
			s.reject(in.To, err)
			return
		}
		if first = at; !begins {
			first += step
		}
	}
	places, more := walk(first, step, len(s.transcript.Events()), pageSize(in.Limit, itemsPage, itemsMost), fits)
	page := protocol.ThreadItemsListResponse{Data: make([]protocol.ThreadItemEntry, len(places))}
	for i, place := range places {
		page.Data[i] = s.itemEntry(s.transcript.Events()[place])
	}
	if n := len(places); n > 0 {
		page.BackwardsCursor = s.itemCursor(places[0], true)
		if more {
			page.NextCursor = s.itemCursor(places[n-1], false)
		}
	}
	s.reply(in.To, page)
}

func (t *Thread) itemEntry(m transcript.Event) protocol.ThreadItemEntry {
	r := t.transcript.Turn(int(m.Turn))
	item := r.Item(int(m.Item)).ThreadItem()
	return protocol.ThreadItemEntry{TurnID: r.ID, Item: item, StartedAtMs: item.StartedAtMs, CompletedAtMs: item.CompletedAtMs}
}

func (t *Thread) itemCursor(place int, begins bool) *string {
	m := t.transcript.Events()[place]
	return pageCursor{Thread: t.id, Kind: "items", Position: m.Position, ID: t.transcript.ItemAt(m).ID(), Begins: begins}.text()
}

// findItem is the moment of the item that a cursor names.
func (t *Thread) findItem(cursor *protocol.ThreadItemCursor, turnID *string, turn int) (at int, begins bool, err *protocol.Error) {
	if cursor.ItemID != "" {
		at, err = t.findAnchor(cursor.ItemID, turnID, turn)
		return at, false, err
	}
	c, ok := t.readPageCursor(cursor.Page, "items")
	if ok {
		at, ok = t.findMoment(c.Position, c.ID)
	}
	if !ok {
		err = errCursor("cursor", cursor.Page)
	}
	return at, c.Begins, err
}

// findMoment is that of the item with an id whose line has an ordinal.
func (t *Thread) findMoment(position int64, id string) (int, bool) {
	for i := t.transcript.EventFrom(position); i < len(t.transcript.Events()) && t.transcript.Events()[i].Position == position; i++ {
		if m := t.transcript.Events()[i]; m.Item >= 0 && t.transcript.ItemAt(m).ID() == id {
			return i, true
		}
	}
	return 0, false
}

func (t *Thread) findAnchor(itemID string, turnID *string, turn int) (int, *protocol.Error) {
	if turnID == nil {
		return 0, protocol.InvalidParams("turnId", "`turnId` is needed where `cursor` is an item")
	}
	for i := len(t.transcript.Events()) - 1; i >= 0; i-- {
		if m := t.transcript.Events()[i]; m.Item >= 0 && int(m.Turn) == turn && t.transcript.ItemAt(m).ID() == itemID {
			return i, nil
		}
	}
	return 0, protocol.InvalidParams("cursor.itemId", "turn %s has no item %s", *turnID, itemID)
}
