package contextedit

import (
	"fmt"

	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

// search is the input of find, and its last result.
type search struct {
	input string
	regex bool
	query string // of the result
	// matches has the items with a match: the text around it, or "" if the result does not have it.
	matches map[string]string
	result  protocol.ContextSearchResponse
}

// find searches for the input.
func (m *Model) find() {
	m.screen = onList
	query, regex := m.search.input, m.search.regex
	if query == "" {
		m.clearSearch()
		return
	}
	m.status = "Searching …"
	m.enqueue(func() Command {
		return func(t Thread) Message {
			matches, err := t.Search(query, regex)
			return found{query, matches, err}
		}
	})
}

func (m *Model) clearSearch() { m.search = search{regex: m.search.regex} }

func (m *Model) takeMatches(r found) {
	if r.err != nil {
		m.status = m.describe(r.err)
		return
	}
	m.status, m.search.query, m.search.result = "", r.query, r.matches
	m.search.matches = make(map[string]string, len(r.matches.IDs))
	for _, id := range r.matches.IDs {
		m.search.matches[id] = ""
	}
	for _, match := range r.matches.Data {
		before := termtext.LastColumns(match.Before, beforeMatch)
		m.search.matches[match.ID] = before + match.Match + match.After
	}
	if item := m.list.current(); item != nil && !m.isMatch(item) {
		m.nextMatch(1)
	}
}

// beforeMatch is the width of the text that a row has before its match, in columns. More of it would move
// the match out of the row.
const beforeMatch = 12

func (m *Model) isMatch(item *protocol.ContextItem) bool {
	_, ok := m.search.matches[item.ID]
	return ok
}

// nextMatch moves the cursor to the next shown match, or with -1 to the previous one. It continues at the
// other end of the list.
func (m *Model) nextMatch(direction int) {
	n := len(m.list.rows)
	for step := 1; step <= n; step++ {
		row := ((m.list.cursor+direction*step)%n + n) % n
		if m.isMatch(&m.list.items[m.list.rows[row]]) {
			m.list.move(row-m.list.cursor, m.rowsOfList())
			return
		}
	}
	m.status = "No shown item matches. 0 shows all categories."
	if m.search.query == "" {
		m.status = "/ finds a text."
	}
}

// excludeMatches plans to exclude all matches that the filter shows.
func (m *Model) excludeMatches() {
	count := 0
	for _, i := range m.list.rows {
		item := &m.list.items[i]
		if w, _ := m.plan.of(item); m.isMatch(item) && w.included && !w.deleted {
			w.included = false
			m.plan.set(item, w)
			count++
		}
	}
	if m.search.query == "" {
		m.status = "/ finds a text, then x excludes all matches."
		return
	}
	m.status = fmt.Sprintf("The plan excludes %s.", termtext.Counted(count, "match"))
	if count != 1 {
		m.status = fmt.Sprintf("The plan excludes %s matches.", termtext.Grouped(int64(count)))
	}
}

// describeSearch returns the result of the search in one line, or "".
func (m *Model) describeSearch() string {
	if m.search.query == "" {
		return ""
	}
	if len(m.search.matches) == 0 {
		return fmt.Sprintf("No item has a match for %s.", termtext.Escape(m.search.query))
	}
	return fmt.Sprintf("%s: %s, %s of them in the request. n next, x exclude all, Esc end",
		termtext.FirstColumns(termtext.Escape(m.search.query), 20), termtext.Counted(len(m.search.matches), "item"),
		termtext.Counted(int(m.search.result.Tokens), "token"))
}
