package core

import (
	"encoding/json"
	"slices"

	"appserver/protocol"
)

// Projection decides what a line of the rollout becomes for a reader that does not know
// of context edits, so that it sends its model what this thread would: the payload, and
// whether the line is there at all. It is nil where every line stays as it is, and where
// ordinals do not tell which line is which.
func (t *Thread) Projection() func(protocol.RolloutLine) (json.RawMessage, bool) {
	p := &projection{history: &t.history, lines: map[int64]json.RawMessage{}}
	for i := range t.items {
		p.note(i)
	}
	p.noteCompactions()
	if len(p.lines) == 0 || t.disordered {
		return nil
	}
	p.noteStray()
	return p.project
}

// projection is what becomes of lines, by their ordinals; nil leaves a line out.
type projection struct {
	*history
	lines map[int64]json.RawMessage
}

func (p *projection) project(line protocol.RolloutLine) (json.RawMessage, bool) {
	if line.Ordinal == nil {
		return line.Payload, true
	}
	payload, changed := p.lines[*line.Ordinal]
	if !changed {
		return line.Payload, true
	}
	return payload, payload != nil
}

// note notes an item of a line of its own that is not as the line has it.
func (p *projection) note(place int) {
	c := &p.items[place]
	if c.part != none || c.fate.hidden {
		return
	}
	if payload, same := p.payload(place); !same {
		p.lines[c.ordinal] = payload
	}
}

// noteStray leaves out the outputs without a call: where other lines are left out, a plain
// reader could take them for those of another call with the same id.
func (p *projection) noteStray() {
	for i := range p.items {
		if c := &p.items[i]; p.stray(i) && c.part == none && !c.fate.hidden {
			p.lines[c.ordinal] = nil
		}
	}
}

// payload is what a plain reader is to find of an item: nil where it is left out.
func (p *projection) payload(place int) (payload json.RawMessage, same bool) {
	c := &p.items[place]
	switch {
	case p.standsFor(place):
		return p.encode(output(&p.items[c.pair], placeholder(c.fate.says)))
	case p.stray(place) && c.kept():
		return nil, true
	case !p.remains(place):
		return nil, false
	case c.fate.text != nil:
		return p.encode(c.sent())
	}
	return nil, true
}

func (p *projection) encode(item protocol.ResponseItem) (json.RawMessage, bool) {
	raw, err := protocol.Marshal(item)
	return raw, err != nil
}

// noteCompactions leaves out compactions that are undone, and gives the last one that
// is in force the history that is left of it.
func (p *projection) noteCompactions() {
	var inForce *edit
	for i := range p.journal {
		switch e := &p.journal[i]; {
		case e.Op != protocol.EditCompact:
		case e.Undone:
			p.lines[e.ordinal] = nil
		default:
			inForce = e
		}
	}
	if inForce != nil {
		p.noteParts(inForce)
	}
}

// compactedTo is a compacted line that brings its history, even an empty one.
type compactedTo struct {
	Message            string            `json:"message"`
	ReplacementHistory []json.RawMessage `json:"replacement_history"`
}

// noteParts notes what is left of a compaction. A plain reader of a line that brings no
// history would make it of all messages of the user, those that were taken out too.
func (p *projection) noteParts(e *edit) {
	left := []json.RawMessage{}
	changed := e.bare && p.tookOutHidden()
	for place := range p.items {
		if c := &p.items[place]; c.ordinal != e.ordinal || c.part == none {
			continue
		}
		payload, same := p.payload(place)
		changed = changed || !same
		if same && !p.stray(place) {
			payload, _ = p.encode(p.items[place].Item())
		}
		if payload != nil {
			left = append(left, payload)
		}
	}
	if changed {
		raw, err := protocol.Marshal(compactedTo{ReplacementHistory: left})
		if err == nil {
			p.lines[e.ordinal] = raw
		}
	}
}

// tookOutHidden tells whether an item was taken out before a compaction hid it.
func (p *projection) tookOutHidden() bool {
	return slices.ContainsFunc(p.items, func(c contextItem) bool {
		return c.fate.hidden && (c.fate.excluded || c.fate.deleted)
	})
}
