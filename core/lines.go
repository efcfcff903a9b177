package core

import (
	"encoding/json"

	"appserver/core/lineref"
)

// Lines returns the number of lines that the thread was made of.
func (t *Thread) Lines() int { return int(t.log.line) }

// Evict removes the payloads of the last lines, from the first on, from memory. The thread reads
// them again when it needs them. worth reports whether the rollout has a line as it is, and whether
// its length is worth it. A payload that the next request needs stays in memory until then.
func (t *Thread) Evict(lines lineref.Lines, first int, worth func(line int) bool) {
	if !t.appended.Reads(lines) {
		t.appended = lineref.NewSource(lines)
	}
	since := t.next - int64(t.Lines()-first)
	for i := t.context.Len() - 1; i >= 0 && t.context.Item(i).Ordinal() >= since; i-- {
		if c := t.context.Item(i); !c.IsPart() && worth(int(c.Line)) {
			c.Source, c.Raw = t.appended, nil
		}
	}
	events := t.transcript.Events()
	for i := len(events) - 1; i >= 0 && events[i].Position >= since; i-- {
		if events[i].Item < 0 {
			continue
		}
		if r := t.transcript.ItemAt(events[i]); r.Raw != nil && worth(int(r.Line)) {
			r.Source, r.Raw = t.appended, nil
		}
	}
}

// ref returns a reference to the payload of the line that is applied, or to a part of it.
func (l *log) ref(part int, raw json.RawMessage) lineref.Ref {
	return lineref.Ref{Raw: raw, Source: l.from, Line: l.line, Part: int32(part)}
}

// evictLine removes the payloads of the items that the last line added, from a place on.
func (l *log) evictLine(place int) {
	l.context.Evict(place)
	l.line++
}
