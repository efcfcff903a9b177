package contextedit

import (
	"cmp"
	"fmt"
	"slices"

	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

// order is how the list is sorted.
type order int

const (
	byTurn order = iota
	byPrice
	newestFirst
	orders
)

// String returns the order as the page names it.
func (o order) String() string { return [...]string{"by turn", "by price", "newest first"}[o] }

// heading is the line above the items of a turn.
type heading struct {
	number int
	// text is the first message of the user in the turn, tokens the cost of its items in the next request.
	text   string
	tokens int64
}

// headingsOf numbers the turns of the items, from 1.
func headingsOf(items []protocol.ContextItem) map[string]*heading {
	turns := map[string]*heading{}
	for i := range items {
		item := &items[i]
		if item.TurnID == nil {
			continue
		}
		h := turns[*item.TurnID]
		if h == nil {
			h = &heading{number: len(turns) + 1}
			turns[*item.TurnID] = h
		}
		if item.Category == protocol.CategoryUserMessage && h.text == "" {
			h.text = item.Preview
		}
		if item.InPrompt {
			h.tokens += item.Tokens
		}
	}
	return turns
}

// turnOf returns the id of the turn of a row, or "".
func (l *listing) turnOf(row int) string {
	if id := l.items[l.rows[row]].TurnID; id != nil {
		return *id
	}
	return ""
}

// headingAt returns the heading above a row, or nil. The first visible row always has the one of its turn.
func (l *listing) headingAt(row, top int) *heading {
	if l.order != byTurn || row > top && l.turnOf(row) == l.turnOf(row-1) {
		return nil
	}
	return l.turns[l.turnOf(row)]
}

// reaches reports whether the rows from top to last fit in the height, with their headings.
func (l *listing) reaches(top, last, height int) bool {
	used := 0
	for row := top; row <= last; row++ {
		if used++; l.headingAt(row, top) != nil {
			used++
		}
		if used > height {
			return false
		}
	}
	return true
}

// sort sorts the rows.
func (l *listing) sort() {
	switch l.order {
	case byPrice:
		slices.SortStableFunc(l.rows, func(a, b int) int { return cmp.Compare(l.items[b].Tokens, l.items[a].Tokens) })
	case newestFirst:
		slices.Reverse(l.rows)
	case byTurn, orders:
	}
}

// nearest returns the row of an item, or of the next one in the order of the list that is shown.
func (l *listing) nearest(place int) (row int) {
	best := len(l.items)
	for r, i := range l.rows {
		if i >= place && i < best {
			row, best = r, i
		}
	}
	if best == len(l.items) && l.order == byTurn {
		return max(0, len(l.rows)-1)
	}
	return row
}

// sortNext sorts the list in the next order. The cursor stays on its item.
func (m *Model) sortNext() {
	id := ""
	if item := m.list.current(); item != nil {
		id = item.ID
	}
	m.list.order = (m.list.order + 1) % orders
	m.list.show(id)
	m.list.keepVisible(m.rowsOfList())
	m.status = "Sorted " + m.list.order.String() + "."
}

// viewHeading returns the line above the items of a turn.
func (m *Model) viewHeading(h *heading) Line {
	tokens := termtext.Grouped(h.tokens)
	name := fmt.Sprintf("Turn %d", h.number)
	if h.text != "" {
		name += "  " + termtext.Escape(h.text)
	}
	rest := m.size.Columns - tokensWidth
	return Line{{termtext.FirstColumns(name, rest-1), rest, Bold},
		{termtext.Padded(tokens, tokensWidth, true), tokensWidth, Dim}}
}
