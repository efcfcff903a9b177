// Package lineref holds references to payloads of lines that need not be in memory. A long thread
// would take all of its rollout in memory otherwise.
//
// A [Ref] names a line by its number, from 0, or a part of a compacted line. Its payload is in
// memory, or its [Source] reads it again.
package lineref

import (
	"encoding/json"

	"appserver/protocol"
)

// Whole is the Part of a reference to a whole line.
const Whole = -1

// Lines reads the payloads of lines.
type Lines interface {
	// Payload returns the payload of the n-th line, from 0, or nil if it cannot be read. The
	// caller must not use anything made of the lines then.
	Payload(n int) json.RawMessage
}

// Peekable are lines whose text can be read without parsing it.
type Peekable interface {
	Lines
	// Peek returns a text that contains the payload of the n-th line, or nil if it cannot be read. The text is valid
	// until the next line is read.
	Peek(n int) []byte
}

// Source reads the payloads of references. It keeps the parts of the compacted line that it read
// last, since they are read one after the other. It is not safe for concurrent use.
type Source struct {
	lines Lines
	parts []json.RawMessage
	line  int32
}

// NewSource returns a source that reads lines.
func NewSource(lines Lines) *Source { return &Source{lines: lines} }

// Reads reports whether the source reads these lines. A nil source reads none.
func (s *Source) Reads(lines Lines) bool { return s != nil && s.lines == lines }

func (s *Source) read(line, part int32) json.RawMessage {
	if part == Whole {
		return s.lines.Payload(int(line))
	}
	if s.parts == nil || s.line != line {
		var c protocol.Compacted
		if protocol.Unmarshal(s.lines.Payload(int(line)), &c) != nil {
			return nil
		}
		s.line, s.parts = line, c.ReplacementHistory
	}
	if int(part) >= len(s.parts) {
		return nil
	}
	return s.parts[part]
}

// Ref is the JSON of a line, or of a part of one.
type Ref struct {
	// Raw is the JSON, or nil if it is not in memory.
	Raw json.RawMessage
	// Source reads it again, or is nil if no line has it.
	Source *Source
	// Line is the number of the line, Part the position within its replacement_history, or Whole.
	Line, Part int32
}

// Payload returns the JSON. It returns an empty object and false if the JSON cannot be read now;
// a later call may succeed.
func (r *Ref) Payload() (raw json.RawMessage, read bool) {
	if r.Raw != nil || r.Source == nil {
		return r.Raw, true
	}
	if raw := r.Source.read(r.Line, r.Part); raw != nil {
		return raw, true
	}
	return json.RawMessage(`{}`), false
}

// Peek returns a text that contains the JSON, or nil if only Payload can read the JSON. The text is valid until the
// next line of the source is read.
func (r *Ref) Peek() []byte {
	if r.Raw != nil || r.Source == nil || r.Part != Whole {
		return r.Raw
	}
	if lines, ok := r.Source.lines.(Peekable); ok {
		return lines.Peek(int(r.Line))
	}
	return nil
}

// Evict removes the JSON from memory if it can be read again.
func (r *Ref) Evict() {
	if r.Source != nil {
		r.Raw = nil
	}
}
