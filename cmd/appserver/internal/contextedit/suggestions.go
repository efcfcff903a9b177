package contextedit

import (
	"fmt"

	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

// suggestions has the suggestions of the server, and those that the user chose.
type suggestions struct {
	list   []protocol.ContextSuggestion
	chosen map[string]bool // by the ids of suggestions
	cursor int
}

// suggested is the answer of the server.
type suggested struct {
	answer protocol.ContextSuggestResponse
	err    error
}

// readSuggestions asks for suggestions.
func (m *Model) readSuggestions() {
	if m.HasPlan() {
		m.status = "Apply or discard the plan first."
		return
	}
	m.status = "Looking for suggestions …"
	m.enqueue(func() Command {
		return func(t Thread) Message {
			r, err := t.Suggest()
			return suggested{r, err}
		}
	})
}

func (m *Model) takeSuggestions(r suggested) {
	m.status = ""
	switch {
	case r.err != nil:
		m.status = m.describe(r.err)
		return
	case len(r.answer.Suggestions) == 0:
		m.status = "There are no suggestions: the next requests need all items."
		return
	}
	m.suggestions = suggestions{list: r.answer.Suggestions, chosen: map[string]bool{}}
	for _, s := range m.suggestions.list {
		m.suggestions.chosen[s.ID] = s.Selected
	}
	m.screen, m.pager = onSuggestions, pager{}
	m.fillPager()
}

// suggestionLines returns a line for each suggestion: its price, its items and its reason.
func (m *Model) suggestionLines() (lines []string) {
	for i, s := range m.suggestions.list {
		mark, box := "  ", "[ ]"
		if i == m.suggestions.cursor {
			mark = "> "
		}
		if m.suggestions.chosen[s.ID] {
			box = "[x]"
		}
		lines = append(lines, fmt.Sprintf("%s%s %9s  %-9s %s", mark, box, termtext.Grouped(s.NetPrice.TokensSaved),
			termtext.Counted(len(s.ItemIDs), "item"), termtext.Escape(s.Text)))
	}
	return lines
}

// pressInSuggestions applies a key of the suggestions.
func (m *Model) pressInSuggestions(key Key) {
	s := &m.suggestions
	if by, ok := m.distance(key); ok {
		s.cursor = max(0, min(s.cursor+by, len(s.list)-1))
		m.fillPager()
		if height := m.rowsOfPager(); s.cursor < m.pager.top || s.cursor >= m.pager.top+height {
			m.pager.scroll(s.cursor-m.pager.top-height/2, height)
		}
		return
	}
	switch key {
	case " ":
		id := s.list[s.cursor].ID
		s.chosen[id] = !s.chosen[id]
		m.fillPager()
	case "Enter":
		m.priceSuggestions()
	case "Esc", "q":
		m.screen = onList
	}
}

// priceSuggestions reads the price of the chosen suggestions together.
func (m *Model) priceSuggestions() {
	var edits []protocol.ContextOperation
	count, items := 0, 0
	for _, s := range m.suggestions.list {
		if m.suggestions.chosen[s.ID] {
			edits = append(edits, s.Edits...)
			items += len(s.ItemIDs)
			count++
		}
	}
	if count == 0 {
		m.screen, m.status = onList, "No suggestion was chosen. Space chooses one."
		return
	}
	m.priceThenAsk(edits, func(p *protocol.ContextPreviewResponse) question {
		lines := []string{fmt.Sprintf("Apply %s for %s?", termtext.Counted(count, "suggestion"),
			termtext.Counted(items, "item")), ""}
		return question{title: "Suggestions", keys: "Enter applies  Esc returns",
			lines: append(append(lines, priceText(p)...), "", "They become one edit. u undoes it."), do: func() {
				m.status = "Applying the suggestions …"
				m.enqueueEdit(func() Command { return applyEdits(edits, m.list.revision) })
			}}
	})
}
