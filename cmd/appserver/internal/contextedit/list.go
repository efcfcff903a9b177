package contextedit

import (
	"slices"

	"appserver/protocol"
)

// listing is the list of items, with the rows that the filter shows.
type listing struct {
	items    []protocol.ContextItem
	usage    protocol.ContextUsage
	revision int64
	// filter has the shown categories. All are shown if it is empty.
	filter []protocol.ContextCategory
	rows   []int // indices of the shown items
	cursor int   // index in rows
	top    int   // the first visible row
	anchor int   // the row in which a range begins, or -1
	order  order
	turns  map[string]*heading // by the ids of turns
}

// take shows a new list. The cursor stays on its item, or in its place.
func (l *listing) take(r protocol.ContextGetItemsResponse) {
	id := ""
	if item := l.current(); item != nil {
		id = item.ID
	}
	l.items, l.usage, l.revision = r.Items, r.Usage, r.Revision
	l.turns = headingsOf(l.items)
	l.show(id)
}

// current returns the item under the cursor or nil.
func (l *listing) current() *protocol.ContextItem {
	if l.cursor >= len(l.rows) {
		return nil
	}
	return &l.items[l.rows[l.cursor]]
}

// show selects the rows by the filter. The cursor moves to the item with the id, if it is shown.
func (l *listing) show(id string) {
	rows := l.rows[:0]
	l.anchor = -1
	for i := range l.items {
		if len(l.filter) > 0 && !slices.Contains(l.filter, l.items[i].Category) {
			continue
		}
		rows = append(rows, i)
	}
	l.rows = rows
	l.sort()
	if row := slices.IndexFunc(rows, func(i int) bool { return l.items[i].ID == id }); row >= 0 {
		l.cursor = row
	}
	l.cursor = min(l.cursor, max(0, len(rows)-1))
}

// setFilter shows some categories only. The cursor moves to the item that was next to it.
func (l *listing) setFilter(filter []protocol.ContextCategory) {
	place := 0
	if l.cursor < len(l.rows) {
		place = l.rows[l.cursor]
	}
	l.filter = filter
	l.show("")
	l.cursor = l.nearest(place)
	l.cursor = min(l.cursor, max(0, len(l.rows)-1))
}

// toggleFilter shows a category, or hides it again.
func (l *listing) toggleFilter(c protocol.ContextCategory) {
	if i := slices.Index(l.filter, c); i >= 0 {
		l.setFilter(slices.Delete(slices.Clone(l.filter), i, i+1))
		return
	}
	l.setFilter(append(slices.Clone(l.filter), c))
}

// categories returns the categories that have items, in the order of the usage.
func (l *listing) categories() (list []protocol.ContextCategory) {
	for _, part := range l.usage.ByCategory {
		list = append(list, part.Category)
	}
	return list
}

// selected returns the items of the range, or the item under the cursor.
func (l *listing) selected() (list []*protocol.ContextItem) {
	if len(l.rows) == 0 {
		return nil
	}
	from, end := l.bounds()
	for _, i := range l.rows[from : end+1] {
		list = append(list, &l.items[i])
	}
	return list
}

// bounds returns the first and the last row of the range.
func (l *listing) bounds() (from, end int) {
	if l.anchor < 0 {
		return l.cursor, l.cursor
	}
	return min(l.anchor, l.cursor), max(l.anchor, l.cursor)
}

// move moves the cursor by a number of rows.
func (l *listing) move(by, height int) {
	l.cursor = max(0, min(l.cursor+by, len(l.rows)-1))
	l.keepVisible(height)
}

// extend moves the cursor, and begins a range at its old place unless there is one.
func (l *listing) extend(by, height int) {
	if l.anchor < 0 {
		l.anchor = l.cursor
	}
	l.move(by, height)
}

// moveTurn moves the cursor to the first row of the next turn, or of this or the previous one.
func (l *listing) moveTurn(next bool, height int) {
	turn := l.turnOf
	row, last := l.cursor, len(l.rows)-1
	if next {
		for row < last && turn(row) == turn(l.cursor) {
			row++
		}
	} else {
		row = max(0, row-1)
		for row > 0 && turn(row-1) == turn(row) {
			row--
		}
	}
	l.move(row-l.cursor, height)
}

// keepVisible scrolls until the cursor is in one of the height visible rows.
func (l *listing) keepVisible(height int) {
	height = max(1, height)
	l.top = max(0, min(l.top, l.cursor, len(l.rows)-1))
	for l.top < l.cursor && !l.reaches(l.top, l.cursor, height) {
		l.top = max(l.top+1, l.cursor-height+1)
	}
	for l.top > 0 && l.reaches(l.top-1, len(l.rows)-1, height) {
		l.top-- // no empty rows at the end
	}
}
