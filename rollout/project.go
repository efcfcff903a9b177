package rollout

import (
	"bytes"
	"encoding/json"
	"fmt"

	"appserver/protocol"
	"appserver/rollout/line"
)

// Projection decides whether a rewritten file has a line, and with what type and payload. It
// is called once for each line except context_backup lines, in order. It must not modify its
// argument.
type Projection func(line protocol.RolloutLine) (projected protocol.RolloutLine, keep bool)

// writeFull writes the full log byte for byte, and a marker without a backup.
func (w *rewrite) writeFull(out *line.PaddedWriter) error {
	for _, part := range w.fullLog() {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	return w.writeMarker(out, protocol.ContextBackup{})
}

// project writes the lines that the projection keeps, and a marker for the backup.
func (w *rewrite) project(out *line.PaddedWriter, p Projection) error {
	s := projector{out: out, choose: p, settled: w.Lines}
	begin := int64(0)
	for _, part := range w.fullLog() {
		if err := s.add(part, begin); err != nil {
			return err
		}
		begin += int64(len(part))
	}
	return w.writeMarker(out, protocol.ContextBackup{Bytes: w.size(), CRC32C: line.Checksum(w.fullLog()...)})
}

// projector is the state of a projection.
type projector struct {
	out    *line.PaddedWriter
	choose Projection
	// settled holds the remaining lines with their ordinals.
	settled []protocol.RolloutLine
}

// add writes the projected lines of a part of the full log. It parses the lines again, so that
// reading does not store their offsets.
func (s *projector) add(part []byte, begin int64) error {
	for at, raw := range line.Lines(part) {
		p, reason := line.Parse(raw)
		if reason != "" {
			continue
		}
		p.Ordinal, s.settled = s.settled[0].Ordinal, s.settled[1:]
		if err := s.project(p, raw, begin+at); err != nil {
			return fmt.Errorf("line %d (%s): %w", *p.Ordinal, p.Type, err)
		}
	}
	return nil
}

// project writes a projected line. If type, payload and ordinal are unchanged, the line is
// copied. Otherwise its other members are kept.
func (s *projector) project(l line.Parsed, raw []byte, begin int64) error {
	if l.Type == protocol.LineContextBackup {
		return nil
	}
	projected, keep := s.choose(l.RolloutLine)
	if !keep {
		return nil
	}
	if *l.Ordinal != l.Stated || projected.Type != l.Type || !bytes.Equal(projected.Payload, l.Payload) {
		projected.Ordinal = l.Ordinal
		var err error
		if raw, err = line.Rewrite(raw, projected); err != nil {
			return err
		}
	}
	if err := s.out.PadTo(begin); err != nil {
		return err
	}
	return s.out.Line(raw)
}

// writeMarker writes the context_backup line, at or after the former end of the file. It has
// the timestamp of the last line, because a rewrite is not an update of the thread.
func (w *rewrite) writeMarker(out *line.PaddedWriter, named protocol.ContextBackup) error {
	payload, err := json.Marshal(named)
	if err != nil {
		return err
	}
	last := protocol.RolloutLine{Ordinal: &w.Next, Type: protocol.LineContextBackup, Payload: payload}
	if n := len(w.Lines); n > 0 {
		last.Timestamp = w.Lines[n-1].Timestamp
	}
	encoded, err := line.Encode([]protocol.RolloutLine{last})
	if err != nil {
		return err
	}
	if err := out.PadTo(w.Size); err != nil {
		return err
	}
	_, err = out.Write(encoded)
	return err
}
