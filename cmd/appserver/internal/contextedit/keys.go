package contextedit

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

// press applies a key.
func (m *Model) press(key Key) {
	if key == "Ctrl+C" {
		if m.screen == onQuit || m.leaving {
			m.quit = true
			return
		}
		m.askToQuit()
		return
	}
	m.leaving = false
	switch {
	case !m.ready || m.isTooSmall():
		if key == "q" {
			m.askToQuit()
		}
		return
	case m.screen == onFind:
		m.pressInFind(key)
		return
	case m.screen == onNote:
		m.pressInNote(key)
		return
	case m.screen == onText || m.screen == onTrim:
		m.pressInField(key)
		return
	case m.screen == onSuggestions:
		m.pressInSuggestions(key)
		return
	case m.screen == onConfirm:
		m.pressInConfirm(key)
		return
	case m.screen == onQuit:
		m.quit = key == "y" || key == "Enter" || key == "q"
		m.screen = onList
		return
	case m.screen != onList:
		m.pressInPager(key)
		return
	}
	m.status = ""
	if by, ok := m.distance(key); ok {
		m.list.move(by, m.rowsOfList())
		return
	}
	switch key {
	case "J", "K":
		m.list.moveTurn(key == "J", m.rowsOfList())
	case "Shift+Up":
		m.list.extend(-1, m.rowsOfList())
	case "Shift+Down":
		m.list.extend(1, m.rowsOfList())
	default:
		m.pressInList(key)
	}
}

// distance returns the number of rows by which a key moves.
func (m *Model) distance(key Key) (by int, ok bool) {
	page, all := max(1, m.rowsOfList()-1), len(m.list.rows)
	if m.screen != onList {
		page, all = max(1, m.rowsOfPager()-1), len(m.pager.lines)
	}
	switch key {
	case "Up", "k":
		return -1, true
	case "Down", "j":
		return 1, true
	case "PgUp", "Ctrl+B":
		return -page, true
	case "PgDn", "Ctrl+F":
		return page, true
	case "Home", "g":
		return -all, true
	case "End", "G":
		return all, true
	}
	return 0, false
}

// pressInList applies a key of the list that does not move.
func (m *Model) pressInList(key Key) {
	switch key {
	case " ":
		m.toggle(func(w *wish) *bool { w.deleted = false; return &w.included }, false)
	case "Delete", "d":
		m.toggle(func(w *wish) *bool { return &w.deleted }, true)
	case "p":
		m.toggle(func(w *wish) *bool { return &w.pinned }, true)
	case "t":
		m.writeNote()
	case "R":
		m.replaceText()
	case "T":
		m.askToTrim()
	case "C":
		m.draftCompaction()
	case "S":
		m.readSuggestions()
	case "s", "o":
		m.sortNext()
	case "v":
		m.toggleRange()
	case "Enter":
		m.openDetails()
	case "/":
		m.screen, m.search.input = onFind, ""
	case "n":
		m.nextMatch(1)
	case "N":
		m.nextMatch(-1)
	case "x":
		m.excludeMatches()
	case "a":
		m.askToApply()
	case "u", "Ctrl+Z":
		m.undo()
	case "U", "Ctrl+R", "Ctrl+Y":
		m.redo()
	case "Backspace":
		m.discard()
	case "r", "Ctrl+L":
		m.status = "Reading the context …"
		m.enqueue(func() Command { return func(t Thread) Message { return reload(t) } })
	case "Esc":
		m.list.anchor = -1
		m.clearSearch()
	case "?":
		m.screen, m.pager = onHelp, pager{}
		m.fillPager()
	case "q":
		m.askToQuit()
	default:
		m.filterBy(key)
	}
}

// filterBy applies a key that selects categories.
func (m *Model) filterBy(key Key) {
	switch n, err := strconv.Atoi(string(key)); {
	case key == "c":
		if item := m.list.current(); item != nil && len(m.list.filter) == 0 {
			m.list.setFilter([]protocol.ContextCategory{item.Category})
		} else {
			m.list.setFilter(nil)
		}
	case err == nil && n == 0:
		m.list.setFilter(nil)
	case err == nil && n <= len(m.list.categories()):
		m.list.toggleFilter(m.list.categories()[n-1])
	}
	m.list.keepVisible(m.rowsOfList())
}

// toggle plans a change of the selected items. All get the value first, unless all have it already.
func (m *Model) toggle(field func(*wish) *bool, first bool) {
	items := m.list.selected()
	value := !first
	for _, item := range items {
		if w, _ := m.plan.of(item); *field(&w) != first {
			value = first
		}
	}
	for _, item := range items {
		w, _ := m.plan.of(item)
		*field(&w) = value
		m.plan.set(item, w)
	}
	m.list.anchor = -1
}

func (m *Model) toggleRange() {
	if m.list.anchor >= 0 {
		m.list.anchor = -1
		return
	}
	m.list.anchor = m.list.cursor
	m.status = "Move to extend the range. Space, d, p and t change all its items."
}

// pressInFind applies a key of the field for the query.
func (m *Model) pressInFind(key Key) {
	switch key {
	case "Enter":
		m.find()
	case "Esc":
		m.screen = onList
	case "Tab":
		m.search.regex = !m.search.regex
	default:
		editField(&m.search.input, key)
	}
}

// editField applies a key of a field to its text.
func editField(text *string, key Key) {
	switch key {
	case "Ctrl+U":
		*text = ""
	case "Backspace":
		_, size := utf8.DecodeLastRuneInString(*text)
		*text = (*text)[:len(*text)-size]
	default:
		if termtext.Columns(string(key)) > 0 && !isNamed(key) {
			*text += string(key)
		}
	}
}

// isNamed reports whether a key has a name instead of a character.
func isNamed(key Key) bool {
	return len(key) > 1 && key[0] < utf8.RuneSelf
}

// pressInPager applies a key of a screen with text.
func (m *Model) pressInPager(key Key) {
	if by, ok := m.distance(key); ok {
		m.pager.scroll(by, m.rowsOfPager())
		return
	}
	switch {
	case key == "Esc" || key == "q":
		m.screen = onList
	case m.screen == onApply && key == "Enter":
		if m.isPriced() && m.preview.err == nil {
			m.apply()
		}
	case m.screen == onApply:
	case m.screen == onHelp && (key == "?" || key == "Enter"), key == "Enter":
		m.screen = onList
	case m.screen == onDetails && key == "Tab":
		m.original = !m.original
		m.pager.top = 0
		m.fillPager()
	case m.screen == onDetails && (key == " " || key == "d" || key == "Delete" || key == "p"):
		m.pressInList(key)
	}
}

func (m *Model) askToApply() {
	if !m.HasPlan() {
		m.status = "There is no plan. Space, d and p plan changes."
		return
	}
	m.screen, m.pager = onApply, pager{}
	m.fillPager()
}

// askToQuit ends the editor, after the edits that it waits for. It asks first if there is a plan.
func (m *Model) askToQuit() {
	if m.edits > 0 {
		m.leaving, m.screen, m.status = true, onList, "Finishing the edit, then quitting …"
		return
	}
	if !m.HasPlan() {
		m.quit = true
		return
	}
	m.screen = onQuit
	m.status = fmt.Sprintf("Quit and discard the plan of %s? y quits, another key returns",
		termtext.Counted(len(m.plan.wishes), "change"))
}
