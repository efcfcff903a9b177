package core

import (
	"encoding/json"
	"slices"

	"appserver/protocol"
)

// Projection decides what a line of the rollout becomes for a reader that does not know
// of context edits, so that it sends its model what this thread would: another line, or
// none. It is nil where every line stays as it is, and where
// ordinals do not tell which line is which.
func (t *Thread) Projection() func(protocol.RolloutLine) (protocol.RolloutLine, bool) {
	p := &projection{history: &t.history, lines: map[int64]json.RawMessage{}, cut: none}
	for i := range t.items {
		p.note(i)
	}
	p.noteCompactions()
	if len(p.lines)+len(p.reverts) == 0 || t.disordered {
		return nil
	}
	p.noteStray()
	return p.project
}

// projection is what becomes of lines, by their ordinals; nil leaves a line out.
type projection struct {
	*history
	lines map[int64]json.RawMessage
	// cut is the ordinal of the line of the latest trim point, which is to be a compaction
	// for readers that know no other; none without one.
	cut int64
	// reverts are those that took turns out.
	reverts []*edit
}

func (p *projection) project(line protocol.RolloutLine) (protocol.RolloutLine, bool) {
	if line.Ordinal == nil {
		return line, true
	}
	if p.reverted(&line) {
		return line, false
	}
	payload, changed := p.lines[*line.Ordinal]
	if !changed {
		return line, true
	}
	line.Payload = payload
	if *line.Ordinal == p.cut {
		line.Type = protocol.LineCompacted
	}
	return line, payload != nil
}

// note notes an item of a line of its own that is not as the line has it.
func (p *projection) note(place int) {
	c := &p.items[place]
	if c.Part != none || c.fate.hidden {
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
		if c := &p.items[i]; p.stray(i) && c.Part == none && !c.fate.hidden {
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

// noteCompactions leaves out compactions that are undone and turns that were reverted, and gives the last one that
// is in force the history that is left of it.
func (p *projection) noteCompactions() {
	for i := range p.journal {
		switch e := &p.journal[i]; {
		case e.reverts():
			p.reverts = append(p.reverts, e)
		case e.Op == protocol.EditCompact && e.Undone:
			p.lines[e.ordinal] = nil
		}
	}
	inForce := p.lastCut()
	if sealed := p.lastSealed(); sealed > 0 && (inForce == nil || inForce.ordinal < sealed) {
		p.noteSealed(sealed)
	}
	switch {
	case inForce == nil:
	case inForce.point != nil:
		p.noteCut(inForce)
	default:
		p.noteParts(inForce.ordinal, inForce.bare && (p.tookOutHidden() || p.wasCut()))
	}
}

// noteCut makes a compaction of a trim point, whose history is what is left in order.
func (p *projection) noteCut(e *edit) {
	p.cut = e.ordinal
	left := []json.RawMessage{}
	for place := range p.inOrder() {
		if c := &p.items[place]; c.aside == 0 && (c.ordinal <= e.ordinal || p.joinedBy(place)) {
			left = p.appendLeft(left, place)
		}
	}
	raw, err := protocol.Marshal(compactedTo{ReplacementHistory: left})
	if err == nil {
		p.lines[e.ordinal] = raw
	}
}

// joinedBy tells whether an edit of the context put the item into the history, with a line
// that plain readers pass over.
func (p *projection) joinedBy(place int) bool {
	return p.items[place].summary && p.items[place].Part != none
}

// appendLeft appends what a plain reader is to find of an item.
func (p *projection) appendLeft(left []json.RawMessage, place int) []json.RawMessage {
	payload, same := p.payload(place)
	if same && !p.stray(place) {
		payload, _ = p.encode(p.items[place].Item())
	}
	if payload == nil || p.items[place].fate.hidden {
		return left
	}
	return append(left, payload)
}

// compactedTo is a compacted line that brings its history, even an empty one.
type compactedTo struct {
	Message            string            `json:"message"`
	ReplacementHistory []json.RawMessage `json:"replacement_history"`
}

// noteParts notes what is left of a compaction, in order. A plain reader of a line that brings no
// history would make it of all messages of the user, those that were taken out too.
func (p *projection) noteParts(ordinal int64, changed bool) {
	left := []json.RawMessage{}
	for place := range p.inOrder() {
		if c := &p.items[place]; c.ordinal != ordinal || c.Part == none {
			continue
		}
		_, same := p.payload(place)
		changed = changed || !same
		left = p.appendLeft(left, place)
	}
	if changed {
		raw, err := protocol.Marshal(compactedTo{ReplacementHistory: left})
		if err == nil {
			p.lines[ordinal] = raw
		}
	}
}

// noteSealed does so for an encrypted compaction. If that was taken out, the line is left out, and
// the items before it take its place for plain readers too.
func (p *projection) noteSealed(ordinal int64) {
	if c := p.sealedItem(ordinal); c != nil && !c.kept() {
		p.lines[ordinal] = nil
		return
	}
	p.noteParts(ordinal, false)
}

// tookOutHidden tells whether an item was taken out before a compaction hid it.
func (p *projection) tookOutHidden() bool {
	return slices.ContainsFunc(p.items, func(c contextItem) bool {
		return c.fate.hidden && (c.fate.excluded || c.fate.deleted)
	})
}

// wasCut tells whether there ever was a trim point.
func (p *projection) wasCut() bool {
	return slices.ContainsFunc(p.journal, func(e edit) bool { return e.point != nil })
}
