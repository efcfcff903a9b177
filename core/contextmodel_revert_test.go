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
}

func (m *contextModel) readTurns(line *protocol.RolloutLine) {
	p := gjson.ParseBytes(line.Payload)
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
