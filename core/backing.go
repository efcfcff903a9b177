package core

import (
	"encoding/json"

	"appserver/protocol"
)

// Lines are the payloads of the lines that a thread was loaded from, for a thread that does
// not hold them in memory.
type Lines interface {
	// Payload is that of the n-th line, from 0; nil where it cannot be read. Nothing that
	// the thread made of it must be used then.
	Payload(n int) json.RawMessage
}

// backing gives what memory does not hold.
type backing struct {
	lines Lines
	// parts are those of the compacted line that was read last, and line its number.
	parts []json.RawMessage
	line  int32
}

func (b *backing) payload(line, part int32) json.RawMessage {
	if part == none {
		return b.lines.Payload(int(line))
	}
	if b.parts == nil || b.line != line {
		var c protocol.Compacted
		if protocol.Unmarshal(b.lines.Payload(int(line)), &c) != nil {
			return nil
		}
		b.line, b.parts = line, c.ReplacementHistory
	}
	if int(part) >= len(b.parts) {
		return nil
	}
	return b.parts[part]
}

// stored is the JSON of a line, or of a part of one: in memory or, where from is set, where
// the rollout has it.
type stored struct {
	raw  json.RawMessage
	from *backing
	line int32
	part int32
}

// text is an empty object where it cannot be read, which may be otherwise the next time.
func (s *stored) text() (raw json.RawMessage, read bool) {
	if s.raw != nil || s.from == nil {
		return s.raw, true
	}
	if raw := s.from.payload(s.line, s.part); raw != nil {
		return raw, true
	}
	return json.RawMessage(`{}`), false
}

// leave gives up the memory of what can be read again.
func (s *stored) leave() {
	if s.from != nil {
		s.raw = nil
	}
}

// Lines counts the lines that the thread was made of.
func (t *Thread) Lines() int { return int(t.log.line) }

// Leave lets the thread read lines again that came last, from the first on, instead of
// holding them: those that the rollout has as they are, and that are worth it. What the next
// request needs of them is held as long as that is so.
func (t *Thread) Leave(lines Lines, first int, worth func(line int) bool) {
	if t.left == nil || t.left.lines != lines {
		t.left = &backing{lines: lines}
	}
	since := t.next - int64(t.Lines()-first)
	for i := len(t.items) - 1; i >= 0 && t.items[i].ordinal >= since; i-- {
		if c := &t.items[i]; c.part == none && worth(int(c.line)) {
			c.from, c.raw = t.left, nil
		}
	}
	for i := len(t.moments) - 1; i >= 0 && t.moments[i].position >= since; i-- {
		m := t.moments[i]
		if m.item < 0 {
			continue
		}
		if r := &t.turns[m.turn].items[m.item]; r.raw != nil && worth(int(r.line)) {
			r.from, r.raw = t.left, nil
		}
	}
}

// stored is a payload of the line that is applied, or the part of one.
func (l *log) stored(part int, raw json.RawMessage) stored {
	return stored{raw: raw, from: l.from, line: l.line, part: int32(part)}
}

// leave gives up what the line brought that was applied last.
func (l *log) leave(items int) {
	for i := items; i < len(l.items); i++ {
		l.items[i].leave()
	}
	l.line++
}
