package core_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// contextModel is a simple model of a thread's context: every item, with flags, and whole copies of
// all flags for undo and redo. It reads the lines of a rollout and uses no code of the thread.
type contextModel struct {
	items    []modelItem
	order    []int // the places of items as they are sent
	next     int64
	line     int64 // the ordinal of the one that is read
	revision int64
	journal  []modelEdit
	turns    modelTurns
	answers  string // the model that answers, by the last line that names one
	sentTo   string // the model of the next request, "" for answers
}

// modelItem is an item as its line has it. call and output are the places of its
// pair, -1 for none.
type modelItem struct {
	id, kind, role, callID string
	body                   string
	sound                  bool   // it can be decoded
	carries                bool   // reasoning goes back with it
	sealed                 bool   // it is encrypted reasoning
	maker                  string // the model of the turn in which it joined
	of                     int64  // the encrypted compaction that it is an item of, 0 for none
	place                  int
	call, output           int
	ordinal                int64
	turn                   string
	modelVisibility
}

// modelEdit is an edit with the flags of all items before and after it.
type modelEdit struct {
	op            string
	revision      int64
	line          int64 // its ordinal
	before, after []modelVisibility
	undone, final bool
	point, reason string // of a trim point that it makes, or gives a summary
	keepFrom      int
	from          int64 // the first line that a revert takes out
	voided        []int // the edits whose trim points a restore takes back
	places        []int // that a delete names, or that came later and follow their calls
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
	m.line = m.next
	id := lineID(m.line)
	m.next++
	if !strings.HasPrefix(string(line.Payload), "{") {
		return
	}
	m.readTurns(line)
	m.readModel(line)
	switch line.Type {
	case protocol.LineResponseItem:
		m.join(id, line.Payload)
	case protocol.LineCompacted:
		m.compact(id, line.Payload)
	case protocol.LineTrimPoint:
		var p protocol.StoredTrimPoint
		if json.Unmarshal(line.Payload, &p) == nil {
			m.cut(protocol.EditTrim, id, &p, p.Summary)
		}
	case protocol.LineContextEdit:
		m.readEdit(line.Payload)
	}
}

// readModel reads the model of a turn.
func (m *contextModel) readModel(line *protocol.RolloutLine) {
	if named := gjson.GetBytes(line.Payload, "model").Str; line.Type == protocol.LineTurnContext && named != "" {
		m.answers = named
	}
}

func lineID(ordinal int64) string { return fmt.Sprintf("r%d", ordinal) }

func (m *contextModel) join(id string, raw json.RawMessage) {
	p := gjson.ParseBytes(raw)
	item := modelItem{id: id, kind: p.Get("type").Str, role: p.Get("role").Str, call: -1, output: -1, ordinal: m.line}
	item.body, item.sound = bodyOf(raw)
	if item.isCall() || item.isOutput() {
		item.callID = p.Get("call_id").Str
	}
	item.maker = m.answers
	item.sealed = item.kind == "reasoning" && p.Get("encrypted_content").Str != ""
	item.carries, item.place = p.Get("provider_echo.reasoning_member").Str != "", len(m.items)
	if m.turns.open {
		item.turn = lineID(m.turns.begins[len(m.turns.begins)-1])
	}
	m.items, m.order = append(m.items, item), append(m.order, len(m.items))
	m.remind()
	m.pair(len(m.items) - 1)
	m.follow(len(m.items) - 1)
}

// pair pairs an output with the latest visible call with its id, if that has no output.
func (m *contextModel) pair(place int) {
	item := &m.items[place]
	if !item.isOutput() || item.callID == "" {
		return
	}
	for i, c := range slices.Backward(m.items[:place]) {
		if !c.isCall() || c.callID != item.callID || c.hidden {
			continue
		}
		if c.output < 0 {
			m.items[i].output, item.call = place, i
		}
		return
	}
}

// pairAgain pairs what is not hidden.
func (m *contextModel) pairAgain() {
	for i := range m.items {
		m.items[i].call, m.items[i].output = -1, -1
	}
	for i := range m.items {
		if !m.items[i].hidden {
			m.pair(i)
		}
	}
}

// follow deletes the output of a call that was deleted, with the edit that did it.
func (m *contextModel) follow(place int) {
	call := m.items[place].call
	if call < 0 || !m.items[call].deleted {
		return
	}
	for i, e := range slices.Backward(m.journal) {
		if (e.op == protocol.EditDelete || e.op == protocol.EditApply) && !e.undone && slices.Contains(e.places, call) {
			m.journal[i].places = append(e.places, place)
			m.items[place].deleted = true
			return
		}
	}
}

// bodyOf returns the item as it is sent without edits.
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

func (i *modelItem) listed() bool { return !i.hidden && !i.deleted }
func (i *modelItem) kept() bool   { return i.listed() && !i.excluded }

// isPart reports whether the item is one of a compaction.
func (i *modelItem) isPart() bool { return strings.Contains(i.id, ".") }

// develops reports whether the item is a notice in the role of the developer.
func (i *modelItem) develops() bool {
	return i.role == protocol.RoleDeveloper &&
		(strings.Contains(i.body, protocol.ModeTag) || strings.Contains(i.body, protocol.SkillsTag))
}

// remind moves a reminder that joined last before the first words of its turn.
func (m *contextModel) remind() {
	last := len(m.items) - 1
	turn := m.items[last].turn
	if !m.items[last].tells(reminderHead) || turn == "" || m.items[last].isPart() {
		return
	}
	first := last
	for i := last - 1; i >= 0 && m.items[i].turn == turn && !m.items[i].isPart(); i-- {
		if !m.items[i].tells(reminderHead, "<environment_context>", "<user_instructions>") && !m.items[i].develops() {
			first = i
		}
	}
	if first != last {
		m.order = slices.DeleteFunc(m.order, func(i int) bool { return i == last })
		m.order = slices.Insert(m.order, slices.Index(m.order, first), last)
	}
}

// reminderHead begins what the model is reminded of.
const reminderHead = "[memory:summary v1 |"

// tells reports whether the item is a notice of the server: it has no id.
func (i *modelItem) tells(heads ...string) bool {
	text := gjson.Get(i.body, "content.0.text").Str
	if strings.HasPrefix(text, "# AGENTS.md instructions") && len(heads) > 1 {
		return true
	}
	return !gjson.Get(i.body, "id").Exists() &&
		slices.ContainsFunc(heads, func(head string) bool { return strings.HasPrefix(text, head) })
}

func (m *contextModel) compact(id string, payload json.RawMessage) {
	if items := gjson.GetBytes(payload, "replacement_history").Array(); slices.ContainsFunc(items, isSealed) {
		for k, raw := range items {
			m.join(fmt.Sprintf("%s.%d", id, k), json.RawMessage(raw.Raw))
			m.items[len(m.items)-1].of = m.line
		}
		return // only its provider can read it
	}
	var c protocol.Compacted
	if json.Unmarshal(payload, &c) != nil {
		return
	}
	if c.TrimPoint != nil && c.ReplacementHistory == nil {
		summary := strings.TrimPrefix(c.Message, summaryHead)
		m.cut(protocol.EditCompact, id, c.TrimPoint, &summary)
		return
	}
	replacement := c.ReplacementHistory
	if replacement == nil {
		for _, item := range m.items {
			if item.sound && item.kind == "message" && item.role == protocol.RoleUser && item.kept() &&
				item.ordinal >= m.lastSealed() {
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
		before = append(before, modelVisibility{hidden: true})
	}
	m.revision++
	m.enter(protocol.EditCompact, before, nil)
	m.pairAgain()
}

// encrypted returns the place of the encrypted item of a compaction that is in force, -1 for none.
func (m *contextModel) encrypted(compaction int64) int {
	return slices.IndexFunc(m.items, func(i modelItem) bool {
		return i.of == compaction && isSealed(gjson.Parse(i.body)) && !i.hidden
	})
}

// isSealed reports whether an item is an encrypted compaction.
func isSealed(item gjson.Result) bool {
	kinds := []string{"compaction", "compaction_summary", "context_compaction"}
	return slices.Contains(kinds, item.Get("type").Str) && item.Get("encrypted_content").Str != ""
}

// isAside reports whether the request has the items before an encrypted compaction instead of the
// item.
func (m *contextModel) isAside(i modelItem) bool { return i.of > 0 && m.encrypted(i.of) >= 0 }

// asideItems returns the ids of the items that are not sent because others are.
func (m *contextModel) asideItems() map[string]bool {
	ids := map[string]bool{}
	for _, i := range m.items {
		if m.isAside(i) {
			ids[i.id] = true
		}
	}
	return ids
}

// lastSealed returns the last encrypted compaction that is in force, 0 for none.
func (m *contextModel) lastSealed() (line int64) {
	for _, i := range m.items {
		if m.isAside(i) {
			line = max(line, i.of)
		}
	}
	return line
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
	case protocol.EditSummarize:
		m.summarize(lineID(m.line), &e)
	case protocol.EditApply:
		before := m.fates()
		for i := range e.Edits {
			m.make(&e.Edits[i])
		}
		var deleted []int
		for i, item := range m.items {
			if item.deleted && !before[i].deleted {
				deleted = append(deleted, i)
			}
		}
		m.enter(e.Op, before, deleted)
		m.pairAgain()
	default:
		if modelEffectOf(e.Op) == nil && e.Op != protocol.EditRestore {
			return
		}
		before := m.fates()
		m.enter(e.Op, before, m.make(&e))
		if e.Op == protocol.EditRestore || e.Returns {
			m.pairAgain()
		}
	}
}

// make applies the line to the flags, and returns the places of the items.
func (m *contextModel) make(e *protocol.StoredContextEdit) (places []int) {
	if e.Op == protocol.EditRestore {
		m.unTrim()
		for i, item := range m.items {
			if !item.hidden {
				m.items[i].modelVisibility = item.restored()
			}
		}
		return nil
	}
	last, effect := -1, modelEffectOf(e.Op)
	if effect == nil {
		return nil
	}
	for i, id := range e.IDs {
		place := m.place(id)
		returns := e.Op == protocol.EditInclude && e.Returns
		if place <= last || m.items[place].hidden && !returns ||
			returns && !m.items[place].listed() && !m.returnable(place) {
			continue
		}
		last = place
		places = append(places, place)
		if i < len(e.Tokens) {
			m.items[place].says = min(max(e.Tokens[i], 0), 1<<31-1)
		}
		effect(&m.items[place].modelVisibility, e)
		if i < len(e.Notes) && e.Op != protocol.EditInclude {
			m.items[place].note = e.Notes[i]
		}
	}
	return places
}

func (m *contextModel) place(id string) int {
	return slices.IndexFunc(m.items, func(i modelItem) bool { return i.id == id })
}

func (m *contextModel) fates() []modelVisibility {
	fates := make([]modelVisibility, len(m.items))
	for i := range m.items {
		fates[i] = m.items[i].modelVisibility
	}
	return fates
}

func (m *contextModel) enter(op string, before []modelVisibility, places []int) {
	for i := range m.journal {
		m.journal[i].final = m.journal[i].final || m.journal[i].undone
	}
	made := modelEdit{op: op, revision: m.revision, line: m.line, before: before, after: m.fates(), places: places}
	if points, lasting := m.points(); op == protocol.EditRestore {
		for _, p := range points[lasting:] {
			made.voided = append(made.voided, p.edit)
		}
	}
	m.journal = append(m.journal, made)
}

// undoable returns the place of the next edit to undo, or -1. redoable returns that of the next edit
// to redo.
func (m *contextModel) undoable() int {
	for i, e := range slices.Backward(m.journal) {
		switch {
		case e.op == protocol.EditRevert && !e.undone:
			return -1
		case !e.undone:
			return i
		}
	}
	return -1
}

func (m *contextModel) redoable() int {
	return slices.IndexFunc(m.journal, func(e modelEdit) bool { return e.undone && !e.final })
}

func (m *contextModel) undo(line int64) {
	m.undoRevert(line)
	if i := m.undoable(); i >= 0 && m.journal[i].line == line {
		m.retrace(&m.journal[i], true)
	}
}

func (m *contextModel) redo(line int64) {
	if i := m.redoable(); i >= 0 && m.journal[i].line == line {
		m.retrace(&m.journal[i], false)
	}
}

// retrace puts the flags of an edit back. Items that joined since keep theirs, but for
// outputs that follow their calls.
func (m *contextModel) retrace(e *modelEdit, undone bool) {
	e.undone = undone
	fates := e.after
	if undone {
		fates = e.before
	}
	for k, f := range fates {
		m.items[k].modelVisibility = f
	}
	for _, place := range e.places {
		if place >= len(fates) {
			m.items[place].modelVisibility = modelVisibility{deleted: !undone}
		}
	}
	switch e.op {
	case protocol.EditCompact, protocol.EditTrim, protocol.EditSummarize, protocol.EditRestore, protocol.EditInclude,
		protocol.EditApply:
		m.pairAgain()
	}
}
