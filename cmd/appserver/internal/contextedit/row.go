package contextedit

import (
	"cmp"
	"fmt"

	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

// rowCells are the cells of a row of the list.
type rowCells struct{ marks, box, flags, category, preview, tokens string }

// Widths of the cells in columns. The text has the rest. From wideColumns on, the head has a bar.
const (
	marksWidth    = 2
	boxWidth      = 3
	flagsWidth    = 3
	categoryWidth = 12
	tokensWidth   = 9
	wideColumns   = 76
)

func (m *Model) row(c rowCells, style Style) Line {
	line := Line{{c.marks, marksWidth, style}, {c.box, boxWidth, style}, {c.flags, flagsWidth + 1, style},
		{termtext.FirstColumns(c.category, categoryWidth), categoryWidth + 1, style}}
	rest := m.size.Columns - marksWidth - boxWidth - flagsWidth - categoryWidth - tokensWidth - 3
	return append(line, Span{termtext.FirstColumns(c.preview, rest), rest + 1, style},
		Span{termtext.Padded(c.tokens, tokensWidth, true), tokensWidth, style})
}

// viewRow returns an item of the list.
func (m *Model) viewRow(row int) Line {
	item := &m.list.items[m.list.rows[row]]
	w, changed := m.plan.of(item)
	c := rowCells{marks: m.marks(row, item), box: m.box(item, w), category: item.Category.Words(),
		preview: termtext.Escape(cmp.Or(item.LongPreview, item.Preview)), tokens: termtext.Grouped(item.Tokens)}
	if snippet := m.search.matches[item.ID]; snippet != "" {
		c.preview = termtext.Escape(snippet)
	}
	style := Style(0)
	switch {
	case w.deleted:
		style = Danger
	case changed:
		style = Changed
	case !item.InPrompt:
		style = Dim
	}
	c.flags = m.flags(item, w, changed)
	if row == m.list.cursor {
		style |= Reverse
	}
	return m.row(c, style)
}

// marks returns the marks of the cursor, the range and the matches.
func (m *Model) marks(row int, item *protocol.ContextItem) string {
	marks := []byte("  ")
	if row == m.list.cursor {
		marks[0] = '>'
	}
	from, end := m.list.bounds()
	switch {
	case m.list.anchor >= 0 && from <= row && row <= end:
		marks[1] = '|'
	case m.isMatch(item):
		marks[1] = '/'
	}
	return string(marks)
}

// box returns the state of an item after the plan, as far as it is known.
func (m *Model) box(item *protocol.ContextItem, w wish) string {
	sent := item.InPrompt || !item.Included
	if is, ok := m.consequence(item.ID); ok {
		sent = is != protocol.SentNothing
	}
	switch {
	case w.deleted:
		return "[D]"
	case !w.included:
		return "[ ]"
	case !sent:
		return "[-]"
	}
	return "[x]"
}

// flags returns the marks of the plan, and of items that are pinned or replaced or have a note.
func (m *Model) flags(item *protocol.ContextItem, w wish, changed bool) string {
	flags := []byte("   ")
	if changed {
		flags[0] = '*'
	} else if _, ok := m.consequence(item.ID); ok {
		flags[0] = '~'
	}
	if w.pinned {
		flags[1] = 'P'
	}
	switch noted, replaced := w.note != "", item.Replaced || w.replaces; {
	case noted && replaced:
		flags[2] = 'B'
	case noted:
		flags[2] = 'N'
	case replaced:
		flags[2] = 'R'
	}
	return string(flags)
}

// consequence returns the form in which the next request has an item after the plan. It returns false if
// the plan does not change the form, or has no price yet.
func (m *Model) consequence(id string) (is protocol.ContextSent, ok bool) {
	if m.isPriced() {
		is, ok = m.preview.changed[id]
	}
	return is, ok
}

// footRows is the number of rows below the list.
const footRows = 4

// viewFoot returns the message, the price of the plan in two rows, and the keys. A long message hides the
// price until the next key.
func (m *Model) viewFoot() (lines []Line) {
	first, second := m.viewPrice()
	if m.screen.isField() || m.status == "" {
		lines = append(lines, m.viewPlace())
	} else {
		for _, line := range termtext.Wrap(m.status, m.size.Columns) {
			lines = append(lines, m.full(line, Bold))
		}
	}
	lines = append(lines, m.full(first, Bold), m.full(second, 0))[:footRows-1]
	keys := "Space exclude  d delete  R replace  S suggestions  s sort  a apply  ? keys  q quit"
	if termtext.Columns(keys) > m.size.Columns {
		keys = "Space exclude  d delete  Enter text  / find  a apply  u undo  ? keys  q quit"
	}
	if termtext.Columns(keys) > m.size.Columns {
		keys = "Space exclude  d delete  / find  a apply  ? keys  q quit"
	}
	return append(lines, m.full(keys, Reverse))
}

// viewPlace returns the field for the query, the result of the search, or the place in the list.
func (m *Model) viewPlace() Line {
	switch {
	case m.screen == onNote:
		return m.viewNote()
	case m.screen == onText:
		return m.viewField("Text: ")
	case m.screen == onTrim:
		return m.viewField("Turns to keep: ")
	case m.screen == onFind:
		kind := "text"
		if m.search.regex {
			kind = "regular expression"
		}
		return m.full(fmt.Sprintf("Find (%s): %s_", kind, termtext.LastColumns(termtext.Escape(m.search.input),
			m.size.Columns-30)), Bold)
	case m.search.query != "":
		return m.full(m.describeSearch(), 0)
	}
	place := "no items"
	if len(m.list.rows) > 0 {
		place = fmt.Sprintf("item %s of %s", termtext.Grouped(int64(m.list.cursor+1)),
			termtext.Grouped(int64(len(m.list.rows))))
	}
	if m.list.order != byTurn {
		place += ", " + m.list.order.String()
	}
	if hidden := len(m.list.items) - len(m.list.rows); hidden > 0 {
		place += fmt.Sprintf(", %s not shown (0 shows all)", termtext.Grouped(int64(hidden)))
	}
	return m.full(place, 0)
}

// viewPrice returns the price of the plan.
func (m *Model) viewPrice() (first, second string) {
	n := len(m.plan.wishes)
	if n == 0 {
		return "No plan: the context is as it is on disk.", ""
	}
	plan := "Plan of " + termtext.Counted(n, "change") + ": "
	switch {
	case !m.isPriced():
		return plan + "calculating the price …", ""
	case m.preview.err != nil:
		return plan + "no price", m.describe(m.preview.err)
	}
	lines := m.priceLines()
	return plan + lines[0], lines[1]
}
