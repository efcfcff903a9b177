package core_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// contextModel is a thread's context as its rules say, in the plainest way: every item
// that ever joined, with flags, and whole copies of all flags for undo and redo. It
// reads the lines of a rollout, and knows nothing of how the thread works.
type contextModel struct {
	items    []modelItem
	next     int64
	revision int64
	journal  []modelEdit
}

// modelItem is an item as its line has it. call and output are the places of its
// pair, -1 for none.
type modelItem struct {
	id, kind, role, callID string
	body                   string
	sound                  bool // it can be decoded
	call, output           int
	modelFate
}

// modelFate is what edits made of an item.
type modelFate struct {
	hidden, deleted, excluded, pinned, replaced bool
	says                                        int64
	text                                        string
}

// modelEdit is an edit with the flags of all items before and after it.
type modelEdit struct {
	op            string
	revision      int64
	before, after []modelFate
	undone, final bool
}

func modelOf(lines []protocol.RolloutLine) *contextModel {
	m := &contextModel{}
	for i := range lines {
		m.read(&lines[i])
	}
	return m
}

func (m *contextModel) read(line *protocol.RolloutLine) {
	if line.Ordinal != nil && *line.Ordinal >= m.next && *line.Ordinal < 1<<53 {
		m.next = *line.Ordinal
	}
	id := fmt.Sprintf("r%d", m.next)
	m.next++
	if !strings.HasPrefix(string(line.Payload), "{") {
		return
	}
	switch line.Type {
	case protocol.LineResponseItem:
		m.join(id, line.Payload)
	case protocol.LineCompacted:
		m.compact(id, line.Payload)
	case protocol.LineContextEdit:
		m.readEdit(line.Payload)
	}
}

func (m *contextModel) join(id string, raw json.RawMessage) {
	p := gjson.ParseBytes(raw)
	item := modelItem{id: id, kind: p.Get("type").Str, role: p.Get("role").Str, call: -1, output: -1}
	item.body, item.sound = bodyOf(raw)
	if item.isCall() || item.isOutput() {
		item.callID = p.Get("call_id").Str
	}
	if item.isOutput() && item.callID != "" {
		for i, c := range slices.Backward(m.items) {
			if !c.isCall() || c.callID != item.callID {
				continue
			}
			if c.output < 0 {
				m.items[i].output, item.call = len(m.items), i
			}
			break
		}
	}
	m.items = append(m.items, item)
}

// bodyOf is the item as it is sent where nothing was made of it.
func bodyOf(raw json.RawMessage) (body string, sound bool) {
	var item protocol.ResponseItem
	if json.Unmarshal(raw, &item) != nil {
		return canonical(string(raw)), false
	}
	return canonical(encode(item)), true
}

func (i *modelItem) isCall() bool {
	return i.kind == "function_call" || i.kind == "custom_tool_call" || i.kind == "local_shell_call"
}

func (i *modelItem) isOutput() bool {
	return i.kind == "function_call_output" || i.kind == "custom_tool_call_output"
}

func (f modelFate) listed() bool { return !f.hidden && !f.deleted }
func (f modelFate) kept() bool   { return f.listed() && !f.excluded }

func (m *contextModel) compact(id string, payload json.RawMessage) {
	var c protocol.Compacted
	if json.Unmarshal(payload, &c) != nil {
		return
	}
	replacement := c.ReplacementHistory
	if replacement == nil {
		for _, item := range m.items {
			if item.sound && item.kind == "message" && item.role == protocol.RoleUser && item.kept() {
				replacement = append(replacement, json.RawMessage(item.body))
			}
		}
		replacement = append(replacement, json.RawMessage(encode(protocol.ResponseItem{ResponseItemVariant: &protocol.Message{
			Role: protocol.RoleUser, Content: []protocol.ContentItem{{Type: protocol.ContentInputText, Text: c.Message}}}})))
	}
	before := m.fates()
	for i := range m.items {
		m.items[i].hidden = true
	}
	for k, raw := range replacement {
		m.join(fmt.Sprintf("%s.%d", id, k), raw)
		before = append(before, modelFate{hidden: true})
	}
	m.revision++
	m.enter(protocol.EditCompact, before)
}

func (m *contextModel) readEdit(payload json.RawMessage) {
	var e protocol.StoredContextEdit
	if json.Unmarshal(payload, &e) != nil {
		return
	}
	m.revision++
	if e.Revision > m.revision && e.Revision < 1<<53 {
		m.revision = e.Revision
	}
	switch e.Op {
	case protocol.EditUndo:
		m.undo(e.Target)
	case protocol.EditRedo:
		m.redo(e.Target)
	case protocol.EditExclude, protocol.EditInclude, protocol.EditDelete, protocol.EditPrune, protocol.EditPin, protocol.EditUnpin,
		protocol.EditReplace, protocol.EditRestore:
		before := m.fates()
		m.make(&e)
		m.enter(e.Op, before)
	}
}

// make changes the flags as the line says.
func (m *contextModel) make(e *protocol.StoredContextEdit) {
	if e.Op == protocol.EditRestore {
		for i, item := range m.items {
			if !item.hidden && (item.deleted || item.excluded || item.replaced) {
				m.items[i].modelFate = modelFate{pinned: item.pinned}
			}
		}
		return
	}
	for i, id := range e.IDs {
		place := m.place(id)
		if place < 0 || m.items[place].hidden {
			continue
		}
		says := m.items[place].says
		if i < len(e.Tokens) {
			says = min(max(e.Tokens[i], 0), 1<<31-1)
		}
		m.items[place].become(e, says)
	}
}

func (f *modelFate) become(e *protocol.StoredContextEdit, says int64) {
	f.says = says
	switch e.Op {
	case protocol.EditExclude, protocol.EditPrune:
		f.excluded = true
	case protocol.EditInclude:
		f.excluded, f.says = false, 0
	case protocol.EditDelete:
		f.deleted = true
	case protocol.EditPin:
		f.pinned = true
	case protocol.EditUnpin:
		f.pinned = false
	case protocol.EditReplace:
		if f.replaced, f.text = e.Text != nil, ""; e.Text != nil {
			f.text = *e.Text
		}
	}
}

func (m *contextModel) place(id string) int {
	return slices.IndexFunc(m.items, func(i modelItem) bool { return i.id == id })
}

func (m *contextModel) fates() []modelFate {
	fates := make([]modelFate, len(m.items))
	for i := range m.items {
		fates[i] = m.items[i].modelFate
	}
	return fates
}

func (m *contextModel) enter(op string, before []modelFate) {
	for i := range m.journal {
		m.journal[i].final = m.journal[i].final || m.journal[i].undone
	}
	m.journal = append(m.journal, modelEdit{op: op, revision: m.revision, before: before, after: m.fates()})
}

// undoable is the revision of the edit to undo next, 0 for none; redoable that of the
// one to redo.
func (m *contextModel) undoable() int64 {
	for _, e := range slices.Backward(m.journal) {
		if !e.undone {
			return e.revision
		}
	}
	return 0
}

func (m *contextModel) redoable() int64 {
	for _, e := range m.journal {
		if e.undone && !e.final {
			return e.revision
		}
	}
	return 0
}

func (m *contextModel) undo(target int64) {
	if target == m.undoable() {
		m.retrace(target, true)
	}
}

func (m *contextModel) redo(target int64) {
	if target == m.redoable() {
		m.retrace(target, false)
	}
}

// retrace puts the flags of an edit back. Items that joined since keep theirs.
func (m *contextModel) retrace(target int64, undone bool) {
	for i := range m.journal {
		e := &m.journal[i]
		if e.revision != target {
			continue
		}
		e.undone = undone
		fates := e.after
		if undone {
			fates = e.before
		}
		for k, f := range fates {
			m.items[k].modelFate = f
		}
	}
}
