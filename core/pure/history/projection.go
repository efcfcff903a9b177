package history

import (
	"encoding/json"
	"slices"

	"appserver/protocol"
)

// Projection returns a function that rewrites the lines of a rollout for a reader that ignores edits,
// so that the reader sends its model the same prompt. The function returns false for a line to leave
// out. Projection returns nil if every line stays as it is. Each line must have its ordinal.
func (h *History) Projection() func(protocol.RolloutLine) (protocol.RolloutLine, bool) {
	p := &projection{History: h, lines: map[int64]json.RawMessage{}, trim: None}
	for place := range h.Shown() {
		p.addItem(place)
	}
	p.addEdits()
	if len(p.lines)+len(p.reverts) == 0 {
		return nil
	}
	p.removeOrphans()
	return p.project
}

// projection has the new payloads of lines, by their ordinals; nil leaves a line out.
type projection struct {
	*History
	lines map[int64]json.RawMessage
	// trim is the ordinal of the line of the latest trim point, or None. That line becomes a
	// compaction, because other readers do not know trim points.
	trim    int64
	reverts []*Edit
}

func (p *projection) project(line protocol.RolloutLine) (protocol.RolloutLine, bool) {
	if line.Ordinal == nil {
		return line, true
	}
	if p.removes(&line) {
		return line, false
	}
	payload, changed := p.lines[*line.Ordinal]
	if !changed {
		return line, true
	}
	line.Payload = payload
	if *line.Ordinal == p.trim {
		line.Type = protocol.LineCompacted
	}
	return line, payload != nil
}

// removes reports whether a line belongs to reverted turns or is the line of the revert. Lines with
// settings and names stay.
func (p *projection) removes(line *protocol.RolloutLine) bool {
	switch line.Type {
	case protocol.LineResponseItem, protocol.LineCompacted, protocol.LineTurnContext:
	case protocol.LineEventMsg:
		kind := member(line.Payload, "type")
		if kind == protocol.EventSettings || kind == protocol.EventNameUpdated {
			return false
		}
	default:
		return false
	}
	return slices.ContainsFunc(p.reverts, func(e *Edit) bool {
		return *line.Ordinal >= e.from && *line.Ordinal <= e.ordinal
	})
}

// addItem adds the item of a line of its own, if edits changed it.
func (p *projection) addItem(place int) {
	c := p.Item(place)
	if c.IsPart() || c.visibility.hidden {
		return
	}
	if payload, same := p.payload(place); !same {
		p.lines[c.ordinal] = payload
	}
}

// removeOrphans leaves out the outputs without a call. If other lines are left out, a reader could pair
// them with another call that has the same id.
func (p *projection) removeOrphans() {
	for i := range p.Shown() {
		if c := p.Item(i); p.isOrphan(i) && !c.IsPart() && !c.visibility.hidden {
			p.lines[c.ordinal] = nil
		}
	}
}

// payload returns an item as the reader should find it, or nil to leave it out. same is set if that is
// the payload of its line.
func (p *projection) payload(place int) (payload json.RawMessage, same bool) {
	c := p.Item(place)
	switch {
	case p.hasPlaceholder(place):
		return encode(p.at(c.pair).Answer(c.visibility.placeholder()))
	case p.isOrphan(place) && c.Kept():
		return nil, true
	case !p.remains(place), c.encrypted && c.visibility.Text != nil: // that reasoning is never sent
		return nil, false
	case c.visibility.Text != nil:
		return encode(c.Sent())
	}
	return nil, true
}

func encode(item protocol.ResponseItem) (raw json.RawMessage, failed bool) {
	raw, err := protocol.Marshal(item)
	return raw, err != nil
}

// addEdits leaves out compactions and reverts that are undone, and turns that were reverted. It gives the last
// compaction in force the history that remains of it.
func (p *projection) addEdits() {
	for i := range p.journal {
		switch e := &p.journal[i]; {
		case e.revertInForce():
			p.reverts = append(p.reverts, e)
		case e.IsRevert():
			p.lines[e.ordinal] = nil
		case e.Op == protocol.EditCompact && e.Undone:
			p.lines[e.ordinal] = nil
		}
	}
	last := p.LastTrim()
	if ordinal := p.LastEncrypted(); ordinal > 0 && (last == nil || last.ordinal < ordinal) {
		p.addEncrypted(ordinal)
	}
	switch {
	case last == nil:
	case last.point != nil:
		p.addTrimLine(last)
	default:
		p.addParts(last.ordinal, last.bare && (p.hidExcluded() || p.movedItems()))
	}
}

// addTrimLine turns a trim point into a compaction whose history is what remains, in order.
func (p *projection) addTrimLine(e *Edit) {
	p.trim = e.ordinal
	rest := []json.RawMessage{}
	for place := range p.InOrder() {
		c := p.Item(place)
		fromEdit := c.summary && c.IsPart() // its line is an edit, which a reader skips
		if c.InForm() && (c.ordinal <= e.ordinal || fromEdit) {
			rest = p.appendRemaining(rest, place)
		}
	}
	p.setHistory(e.ordinal, rest)
}

// addParts adds what remains of a compaction, in order, and the items before it that returned. From a line
// without a history, a reader would take all messages of the user, even those taken out.
func (p *projection) addParts(ordinal int64, changed bool) {
	rest := []json.RawMessage{}
	replaces := !p.isEncryptedAt(ordinal)
	for place := range p.InOrder() {
		c := p.Item(place)
		returned := replaces && c.ordinal < ordinal && !c.visibility.hidden
		if !returned && (c.ordinal != ordinal || !c.IsPart()) {
			continue
		}
		_, same := p.payload(place)
		changed = changed || returned || !same
		rest = p.appendRemaining(rest, place)
	}
	if changed {
		p.setHistory(ordinal, rest)
	}
}

// addEncrypted adds what remains of an encrypted compaction. If the compaction was taken out, its line
// is left out, and the reader has the items before it.
func (p *projection) addEncrypted(ordinal int64) {
	if c := p.encryptedItem(ordinal); c != nil && !c.Kept() {
		p.lines[ordinal] = nil
		return
	}
	p.addParts(ordinal, false)
}

// appendRemaining appends an item as the reader should find it.
func (p *projection) appendRemaining(rest []json.RawMessage, place int) []json.RawMessage {
	payload, same := p.payload(place)
	if same && !p.isOrphan(place) {
		payload, _ = encode(p.Item(place).Protocol())
	}
	if payload == nil || p.Item(place).visibility.hidden {
		return rest
	}
	return append(rest, payload)
}

// setHistory makes the line with an ordinal a compaction with a history, which may be empty.
func (p *projection) setHistory(ordinal int64, rest []json.RawMessage) {
	raw, err := protocol.Marshal(struct {
		Message            string            `json:"message"`
		ReplacementHistory []json.RawMessage `json:"replacement_history"`
	}{ReplacementHistory: rest})
	if err == nil {
		p.lines[ordinal] = raw
	}
}

// hidExcluded reports whether an item was taken out before a compaction hid it.
func (p *projection) hidExcluded() bool {
	for _, c := range p.items.All() {
		if c.visibility.hidden && (c.visibility.excluded || c.visibility.deleted) {
			return true
		}
	}
	return false
}

// movedItems reports whether there ever was a trim point, or an item that returned.
func (p *projection) movedItems() bool {
	for i := range p.journal {
		if e := &p.journal[i]; e.point != nil || e.bringsBack() {
			return true
		}
	}
	return false
}
