package rollout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"

	"appserver/protocol"
)

// Projection decides what a line becomes in a rewritten file: the type and the payload
// that it has there, or false where it is left out. It is asked once for each line but
// context_backup lines, in their order, and must change nothing of what it is given.
type Projection func(line protocol.RolloutLine) (projected protocol.RolloutLine, keep bool)

// restore writes the full log byte for byte, and that it is whole.
func (w *rewrite) writeFull(out *paddedWriter) error {
	for _, part := range w.fullLog() {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	return w.writeMarker(out, protocol.ContextBackup{})
}

// project writes the lines that a projection keeps, and what the backup holds.
func (w *rewrite) project(out *paddedWriter, p Projection) error {
	s := projector{out: out, choose: p, settled: w.Lines}
	begin := int64(0)
	for _, part := range w.fullLog() {
		if err := s.add(part, begin); err != nil {
			return err
		}
		begin += int64(len(part))
	}
	return w.writeMarker(out, protocol.ContextBackup{Bytes: w.size(), CRC32C: checksum(w.fullLog()...)})
}

// selecting is a projection under way.
type projector struct {
	out    *paddedWriter
	choose Projection
	// settled are the lines that are yet to come, with their ordinals.
	settled []protocol.RolloutLine
}

// add writes what becomes of the lines of a stretch that begins at an offset of the
// full log. It parses them once more, so that reading need not remember where each
// stands.
func (s *projector) add(stretch []byte, begin int64) error {
	for at, raw := range linesOf(stretch) {
		line, reason := parseLine(raw)
		if reason != "" {
			continue
		}
		line.Ordinal, s.settled = s.settled[0].Ordinal, s.settled[1:]
		if err := s.project(line, raw, begin+at); err != nil {
			return fmt.Errorf("line %d (%s): %w", *line.Ordinal, line.Type, err)
		}
	}
	return nil
}

// begins yields the lines of a stretch without white space around them, and where each
// begins in it.
func linesOf(stretch []byte) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		at := int64(0)
		for raw := range bytes.Lines(stretch) {
			line := raw
			if at == 0 {
				line = bytes.TrimPrefix(raw, []byte(byteOrderMark))
			}
			line, _ = trimLine(line)
			if !yield(at, line) {
				return
			}
			at += int64(len(raw))
		}
	}
}

// project writes a line as the projection wants it: as it stands where that has the
// type, the payload and the settled ordinal, else with all its other members as they stand.
func (s *projector) project(l parsed, raw []byte, begin int64) error {
	if l.Type == protocol.LineContextBackup {
		return nil
	}
	projected, keep := s.choose(l.RolloutLine)
	if !keep {
		return nil
	}
	if *l.Ordinal != l.ordinal || projected.Type != l.Type || !bytes.Equal(projected.Payload, l.Payload) {
		projected.Ordinal = l.Ordinal
		var err error
		if raw, err = rewriteLine(raw, projected); err != nil {
			return err
		}
	}
	if err := s.out.padTo(begin); err != nil {
		return err
	}
	return s.out.line(raw)
}

// restate is a line with another ordinal, type and payload.
func rewriteLine(raw []byte, as protocol.RolloutLine) ([]byte, error) {
	payload, err := oneLine(as.Payload)
	if err != nil {
		return nil, err
	}
	kind, err := json.Marshal(as.Type)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(raw)+len(payload)), '{')
	scanObject(raw, 0, 0, func(name, value []byte) {
		switch stringValue(name) {
		case "ordinal":
			return
		case "type":
			value = kind
		case "payload":
			value = payload
		}
		out = append(append(append(append(out, name...), ':'), value...), ',')
	})
	out = append(out, `"ordinal":`...)
	return append(strconv.AppendInt(out, *as.Ordinal, 10), '}'), nil
}

// mark writes the context_backup line, not before where the file ended, with the time
// of the last line: the rewrite has none of its own.
func (w *rewrite) writeMarker(out *paddedWriter, named protocol.ContextBackup) error {
	payload, err := json.Marshal(named)
	if err != nil {
		return err
	}
	last := protocol.RolloutLine{Ordinal: &w.Next, Type: protocol.LineContextBackup, Payload: payload}
	if n := len(w.Lines); n > 0 {
		last.Timestamp = w.Lines[n-1].Timestamp
	}
	encoded, err := encode([]protocol.RolloutLine{last})
	if err != nil {
		return err
	}
	if err := out.padTo(w.Size); err != nil {
		return err
	}
	_, err = out.Write(encoded)
	return err
}
