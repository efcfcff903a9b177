package state

import (
	"encoding/json"

	"appserver/core/pure/lineref"
)

// Lines returns the number of lines that the state was made of.
func (s *State) Lines() int { return int(s.line) }

// Evict removes the payloads of the last lines, from the first on, from memory. The state reads
// them again when it needs them. worth reports whether the rollout has a line as it is, and whether
// its length is worth it. A payload that the next request needs stays in memory until then.
func (s *State) Evict(lines lineref.Lines, first int, worth func(line int) bool) {
	if !s.appended.Reads(lines) {
		s.appended = lineref.NewSource(lines)
	}
	since := s.Next - int64(s.Lines()-first)
	for i := s.Context.Len() - 1; i >= 0 && s.Context.Item(i).Ordinal() >= since; i-- {
		if c := s.Context.Item(i); !c.IsPart() && worth(int(c.Line)) {
			c.Source, c.Raw = s.appended, nil
		}
	}
	for i := s.requests.Len() - 1; i >= 0 && s.requests.At(i).Ordinal >= since; i-- {
		if r := &s.requests.At(i).ref; worth(int(r.Line)) {
			r.Source, r.Raw = s.appended, nil
		}
	}
	for i := s.Transcript.EventCount() - 1; i >= 0 && s.Transcript.Event(i).Position >= since; i-- {
		e := s.Transcript.Event(i)
		if e.Item < 0 {
			continue
		}
		if r := s.Transcript.ItemAt(e); r.Raw != nil && worth(int(r.Line)) {
			r.Source, r.Raw = s.appended, nil
		}
	}
}

// ref returns a reference to the whole payload of the line that is applied.
func (s *State) ref(raw json.RawMessage) lineref.Ref {
	return lineref.Ref{Raw: raw, Source: s.from, Line: s.line, Part: lineref.Whole}
}

// evictLine removes the payloads of the items that the last line added, from a place on.
func (s *State) evictLine(place int) {
	s.Context.Evict(place)
	s.line++
}
