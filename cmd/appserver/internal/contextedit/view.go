package contextedit

import (
	"fmt"
	"slices"
	"strings"

	"appserver/cmd/appserver/internal/termtext"
)

// The smallest terminal that the editor fits in.
const (
	minColumns = 60
	minRows    = 12
)

// Style is a set of attributes. No attribute carries information of its own.
type Style uint8

// The attributes.
const (
	Bold Style = 1 << iota
	Dim
	Reverse
	Changed
	Danger
)

// Span is a part of a line with a fixed width in columns. A longer text is cut.
type Span struct {
	Text  string
	Width int
	Style Style
}

// Line is a row of the screen.
type Line []Span

// String returns the line as it is on a terminal without colours.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(termtext.Padded(termtext.FirstColumns(s.Text, s.Width), s.Width, false))
	}
	return strings.TrimRight(b.String(), " ")
}

func (m *Model) isTooSmall() bool { return m.size.Columns < minColumns || m.size.Rows < minRows }

// full returns a line with one text.
func (m *Model) full(text string, style Style) Line {
	return Line{{termtext.FirstColumns(text, m.size.Columns), m.size.Columns, style}}
}

// View returns the rows of the screen from the top. It builds visible rows only.
func (m *Model) View() []Line {
	if m.isTooSmall() {
		return []Line{m.full(fmt.Sprintf("The terminal has %d x %d.", m.size.Columns, m.size.Rows), 0),
			m.full(fmt.Sprintf("The editor needs %d x %d.", minColumns, minRows), 0), m.full("q quits", 0)}
	}
	if m.screen.isPager() {
		return m.viewPager()
	}
	lines := m.viewHead()
	return append(append(lines, m.viewList()...), m.viewFoot()...)
}

// viewList returns the visible rows, with the headings of their turns.
func (m *Model) viewList() (lines []Line) {
	height := m.rowsOfList()
	for row := m.list.top; row < len(m.list.rows) && len(lines) < height; row++ {
		if h := m.list.headingAt(row, m.list.top); h != nil {
			lines = append(lines, m.viewHeading(h))
		}
		lines = append(lines, m.viewRow(row))
	}
	lines = lines[:min(height, len(lines))]
	for len(lines) < height {
		lines = append(lines, m.full("", 0))
	}
	return lines
}

func (m *Model) rowsOfList() int { return max(1, m.size.Rows-len(m.viewHead())-footRows) }

func (m *Model) rowsOfPager() int { return max(1, m.size.Rows-2) }

func (m *Model) viewPager() (lines []Line) {
	title, keys := "Keys", "Up Down PgUp PgDn scroll  Esc returns"
	switch m.screen {
	case onDetails:
		title, keys = "Item "+m.details.Item.ID, "Up Down PgUp PgDn scroll  Space d p change  Esc returns"
		if m.details.Sent != nil {
			keys = "Tab sent or original  " + keys
		}
		title += m.viewPlanned()
	case onApply:
		title, keys = "Plan", "Enter applies  Esc returns"
	case onConfirm:
		title, keys = m.question.title, m.question.keys
	case onSuggestions:
		title, keys = "Suggestions", "Up Down move  Space choose  Enter price  Esc returns"
	}
	height := m.rowsOfPager()
	end := min(m.pager.top+height, len(m.pager.lines))
	place := fmt.Sprintf("lines %d-%d of %d", m.pager.top+1, end, len(m.pager.lines))
	lines = append(lines, Line{{title, m.size.Columns - len(place) - 1, Bold}, {"", 1, 0}, {place, len(place), 0}})
	for i := range height {
		text := ""
		if m.pager.top+i < end {
			text = m.pager.lines[m.pager.top+i]
		}
		lines = append(lines, m.full(text, 0))
	}
	return append(lines, m.full(keys, Reverse))
}

// viewPlanned returns the planned state of the item whose details are shown.
func (m *Model) viewPlanned() string {
	item := m.list.current()
	if item == nil || item.ID != m.details.Item.ID {
		return ""
	}
	w, changed := m.plan.of(item)
	if !changed {
		return ""
	}
	words := []string{"included"}
	if !w.included {
		words = []string{"excluded"}
	}
	if w.pinned {
		words = append(words, "pinned")
	}
	if w.note != item.Note {
		words = append(words, "noted")
	}
	if w.deleted {
		words = []string{"deleted"}
	}
	return ": planned to be " + strings.Join(words, ", ")
}

// viewHead returns the name, the gauge, the categories and the header of the list.
func (m *Model) viewHead() []Line {
	lines := []Line{m.viewGauge()}
	lines = append(lines, m.viewChips()...)
	return append(lines, m.row(rowCells{category: "category", preview: "text", tokens: "tokens"}, Bold))
}

// viewGauge returns the name of the thread, its model, and its share of the window.
func (m *Model) viewGauge() Line {
	u := &m.list.usage
	gauge := termtext.Counted(int(u.PromptTokens), "token")
	if m.isPriced() && m.HasPlan() && m.preview.err == nil {
		gauge = fmt.Sprintf("%s -> %s", termtext.Grouped(u.PromptTokens),
			termtext.Counted(int(m.preview.preview.After.PromptTokens), "token"))
	}
	if window := u.ModelContextWindow; window != nil && *window > 0 {
		gauge += fmt.Sprintf(" of %s %s%s", termtext.Grouped(*window), m.viewBar(u.PromptTokens, *window),
			termtext.Percent(u.PromptTokens, *window))
	}
	name := m.head.ID
	if m.head.Name != nil && *m.head.Name != "" {
		name = *m.head.Name
	} else if m.head.Preview != "" {
		name = m.head.Preview
	}
	width := m.size.Columns - termtext.Columns(gauge) - 1
	if m.head.Model != nil {
		suffix := " (" + oneLine(*m.head.Model) + ")"
		name = termtext.FirstColumns(oneLine(name), max(10, width-termtext.Columns(suffix)-1)) + suffix
	}
	name = termtext.FirstColumns(oneLine(name), max(0, width-1))
	return Line{{name, width, Bold}, {"", 1, 0}, {gauge, termtext.Columns(gauge), 0}}
}

// viewBar returns a bar for a part of the window, or "" in narrow terminals.
func (m *Model) viewBar(part, window int64) string {
	const width = 10
	if m.size.Columns < wideColumns {
		return ""
	}
	filled := int(min(width, (part*width+window-1)/window))
	return "[" + strings.Repeat("#", filled) + strings.Repeat(".", width-filled) + "] "
}

// oneLine returns a text as one escaped line.
func oneLine(text string) string { return termtext.Escape(strings.Join(strings.Fields(text), " ")) }

// roomyRows is the number of rows from which the categories have their tokens.
const roomyRows = 20

// viewChips returns the categories with their counts and tokens. The shown ones are in brackets if some are
// not shown.
func (m *Model) viewChips() (lines []Line) {
	var line Line
	used := 0
	flush := func() {
		lines = append(lines, append(line, Span{"", max(0, m.size.Columns-used), 0}))
		line, used = nil, 0
	}
	for i, part := range m.list.usage.ByCategory {
		chip := fmt.Sprintf("%d %s %s", i+1, part.Category.Words(), termtext.Grouped(int64(part.Count)))
		if m.size.Rows >= roomyRows {
			chip += " (" + termtext.Grouped(part.IncludedTokens) + ")"
		}
		style := Style(0)
		switch {
		case slices.Contains(m.list.filter, part.Category):
			chip, style = "["+chip+"]", Bold
		case len(m.list.filter) > 0:
			style = Dim
		}
		width := termtext.Columns(chip) + 2
		if used > 0 && used+width-2 > m.size.Columns {
			flush()
		}
		line = append(line, Span{chip, width, style})
		used += width
	}
	if used > 0 || len(lines) == 0 {
		flush()
	}
	return lines
}
