package contextedit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

// writeNote opens the field for a note of the selected items. It begins with the note of the item under the cursor.
func (m *Model) writeNote() {
	item := m.list.current()
	if item == nil {
		return
	}
	w, _ := m.plan.of(item)
	m.screen, m.note = onNote, w.note
}

// pressInNote applies a key of the field for a note.
func (m *Model) pressInNote(key Key) {
	m.status = ""
	switch key {
	case "Enter":
		m.planNote(strings.TrimSpace(m.note))
	case "Esc":
		m.screen = onList
	default:
		editField(&m.note, key)
	}
}

// planNote plans a note for the selected items, or that they have none if it is empty.
func (m *Model) planNote(note string) {
	if n := utf8.RuneCountInString(note); n > protocol.MaxContextNote {
		m.status = fmt.Sprintf("The note has %d characters, and at most %d are accepted. Shorten it.", n,
			protocol.MaxContextNote)
		return
	}
	m.screen, m.status = onList, ""
	for _, item := range m.list.selected() {
		w, _ := m.plan.of(item)
		w.note = note
		m.plan.set(item, w)
	}
	m.list.anchor = -1
}

// viewNote returns the field for a note. It has the error if the note is too long.
func (m *Model) viewNote() Line {
	if m.status != "" {
		return m.full(m.status, Bold)
	}
	head := fmt.Sprintf("Note for %s: ", termtext.Counted(len(m.list.selected()), "item"))
	return m.full(head+termtext.LastColumns(termtext.Escape(m.note), m.size.Columns-len(head)-2)+"_", Bold)
}
