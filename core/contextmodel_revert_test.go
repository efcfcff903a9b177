package core_test

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// This file is the part of the model that knows which turns were reverted.

// modelTurns are the begins of turns.
type modelTurns struct {
	begins []int64
	open   bool
	// paginated is set where texts of events are not read.
	paginated bool
	// said is the ordinal of the last line with a message of the user.
	said int64
	// reverts are those that can be undone.
	reverts []modelRevert
}

// modelRevert is the state before a revert.
type modelRevert struct {
	line     int64
	begins   []int64
	fates    []modelVisibility
	journal  []modelEdit
	reverted int // its place in the journal
}

func (m *contextModel) readTurns(line *protocol.RolloutLine) {
	p := gjson.ParseBytes(line.Payload)
	m.keepReverts(line.Type, p)
	switch kind := p.Get("type").Str; {
	case line.Type == protocol.LineResponseItem && p.Get("role").Str == protocol.RoleUser:
		m.turns.said = m.line
	case line.Type == protocol.LineSessionMeta:
		m.turns.paginated = p.Get("history_mode").Str == protocol.HistoryPaginated
	case line.Type != protocol.LineEventMsg:
	case kind == protocol.EventTaskStarted:
		m.turns.begins, m.turns.open = append(m.turns.begins, m.line), true
	case kind == protocol.EventTaskComplete, kind == protocol.EventTurnAborted:
		m.turns.open = false
	case kind == protocol.EventUserMessage && !m.turns.open && !m.turns.paginated:
		begin := m.line
		if m.turns.said == m.line-1 {
			begin--
		}
		m.turns.begins = append(m.turns.begins, begin)
	case kind == protocol.EventRolledBack:
		m.rollBack(line.Payload)
	}
}

// rollBack hides what came with the last turns, and shows what cuts hid since.
func (m *contextModel) rollBack(payload json.RawMessage) {
	var rolled protocol.ThreadRolledBack
	if json.Unmarshal(payload, &rolled) != nil || rolled.NumTurns == 0 || len(m.turns.begins) == 0 {
		return
	}
	first := max(len(m.turns.begins)-int(rolled.NumTurns), 0)
	from, before := m.turns.begins[first], m.fates()
	m.turns.reverts = append(m.turns.reverts, modelRevert{
		m.line, m.turns.begins, before, slices.Clone(m.journal), len(m.journal),
	})
	m.turns.begins = m.turns.begins[:first]
	points, _ := m.points()
	for k := len(m.journal) - 1; k >= 0; k-- {
		e := &m.journal[k]
		inForce := slices.ContainsFunc(points, func(p modelPoint) bool { return p.id == e.point })
		if e.line < from || e.undone || e.op != protocol.EditCompact && !inForce {
			continue
		}
		e.undone = true
		for i := range e.before {
			if e.before[i].hidden != e.after[i].hidden {
				m.items[i].hidden = e.before[i].hidden
			}
		}
	}
	for i := range m.items {
		m.items[i].hidden = m.items[i].hidden || m.items[i].ordinal >= from
	}
	if m.revision++; rolled.Revision > m.revision && rolled.Revision < 1<<53 {
		m.revision = rolled.Revision
	}
	m.enter(protocol.EditRevert, before, nil)
	m.journal[len(m.journal)-1].from = from
	m.pairAgain()
}

// keepReverts makes reverts final if a line adds to the turns or the context.
func (m *contextModel) keepReverts(kind string, p gjson.Result) {
	event := p.Get("type").Str
	keeps := event == protocol.EventRolledBack || event == protocol.EventSettings || event == protocol.EventNameUpdated ||
		event == protocol.EventTokenCount && !p.Get("info").IsObject()
	if kind == protocol.LineResponseItem || kind == protocol.LineCompacted || kind == protocol.LineEventMsg && !keeps {
		m.turns.reverts = nil
	}
}

// undoRevert brings back what the last revert hid, if no edit in force follows it.
func (m *contextModel) undoRevert(line int64) {
	n := len(m.turns.reverts) - 1
	if n < 0 || m.turns.reverts[n].line != line {
		return
	}
	r := m.turns.reverts[n]
	if slices.ContainsFunc(m.journal[r.reverted+1:], func(e modelEdit) bool { return !e.undone }) {
		return
	}
	m.turns.reverts, m.turns.begins = m.turns.reverts[:n], r.begins
	for i := range r.fates {
		m.items[i].modelVisibility = r.fates[i]
	}
	copy(m.journal, r.journal)
	for i := r.reverted; i < len(m.journal); i++ {
		m.journal[i].undone, m.journal[i].final = true, true
	}
	m.pairAgain()
}
