package contextedit

import (
	"strings"

	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

// editing is a text that the user edits outside of the screen. take receives the new text.
type editing struct {
	text string
	take func(text string)
}

// EditedText is a text that the user's editor returned.
type EditedText struct {
	Text string
	Err  error
}

// textRead is the text of an item that is to be replaced.
type textRead struct {
	id, text string
	err      error
}

// Editing returns the text that waits for the user's editor. It returns false if there is none.
func (m *Model) Editing() (text string, ok bool) {
	if m.editing == nil {
		return "", false
	}
	return m.editing.text, true
}

// replaceText reads the text of the item under the cursor, to edit it.
func (m *Model) replaceText() {
	item := m.list.current()
	switch {
	case item == nil:
		return
	case item.Category != protocol.CategoryToolOutput && item.Category != protocol.CategoryReasoning:
		m.status = "Only the text of tool outputs and of reasoning can be replaced."
		return
	}
	m.list.anchor = -1
	id := item.ID
	if w, _ := m.plan.of(item); w.replaces {
		m.editReplacement(id, w.text)
		return
	}
	m.status = "Reading the item …"
	m.enqueue(func() Command {
		return func(t Thread) Message {
			r, err := t.ReadItem(id)
			return textRead{id, wholeText(&r), err}
		}
	})
}

// wholeText returns the text that is sent, or else the original.
func wholeText(r *protocol.ContextReadItemResponse) string {
	parts := r.Original
	if r.Item.Included && r.Sent != nil {
		parts = *r.Sent
	}
	var texts []string
	for _, part := range parts {
		if part.Type == "text" && part.Text != nil {
			texts = append(texts, *part.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func (m *Model) takeTextToReplace(r textRead) {
	m.status = ""
	if r.err != nil {
		m.status = m.describe(r.err)
		return
	}
	m.editReplacement(r.id, r.text)
}

// editReplacement edits the text of an item: in the user's editor, or else in a field.
func (m *Model) editReplacement(id, text string) {
	if m.hasEditor {
		m.editing = &editing{text, func(text string) { m.planText(id, text) }}
		return
	}
	m.screen, m.replacing, m.field = onText, id, strings.Join(strings.Fields(text), " ")
}

// planText plans another text for an item.
func (m *Model) planText(id, text string) {
	for i := range m.list.items {
		item := &m.list.items[i]
		if item.ID == id {
			w, _ := m.plan.of(item)
			w.replaces, w.text = true, text
			m.plan.set(item, w)
			m.status = ""
		}
	}
}

// takeText takes the text of the user's editor. An unchanged text changes nothing.
func (m *Model) takeText(r EditedText) {
	e := m.editing
	m.editing = nil
	switch {
	case e == nil:
	case r.Err != nil:
		m.status = "The text was not changed: " + termtext.Plain(r.Err.Error())
	case r.Text == e.text:
		m.status = "The text is unchanged."
	default:
		e.take(r.Text)
	}
}

// pressInField applies a key of the field for a text or a number.
func (m *Model) pressInField(key Key) {
	m.status = ""
	switch key {
	case "Enter":
		if m.screen == onTrim {
			m.priceTrim()
			return
		}
		m.screen = onList
		m.planText(m.replacing, m.field)
	case "Esc":
		m.screen = onList
	default:
		editField(&m.field, key)
	}
}

// viewField returns a field. It has the error if its text cannot be used.
func (m *Model) viewField(name string) Line {
	if m.status != "" {
		return m.full(m.status, Bold)
	}
	return m.full(name+termtext.LastColumns(termtext.Escape(m.field), m.size.Columns-len(name)-2)+"_", Bold)
}
