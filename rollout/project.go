package rollout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"appserver/protocol"
)

// Projection decides what a line becomes in a rewritten file: the payload that it has
// there, or false where it is left out. It is asked once for each line but
// context_backup lines, in their order, and must change nothing of what it is given.
type Projection func(line protocol.RolloutLine) (payload json.RawMessage, keep bool)

// restore writes the full log byte for byte, and that it is whole.
func (w *rewriting) restore(out io.Writer) error {
	for _, part := range w.whole() {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	return w.mark(out, protocol.ContextBackup{})
}

// project writes the lines that a projection keeps, and what the backup holds. It
// parses the log once more, so that reading need not remember where each line stands.
func (w *rewriting) project(out io.Writer, p Projection) error {
	settled := w.Lines
	for _, part := range w.whole() {
		part = bytes.TrimPrefix(part, []byte(byteOrderMark))
		for raw := range bytes.Lines(part) {
			raw = bytes.Trim(raw, " \t\r\n")
			line, reason := parseLine(raw)
			if reason != "" {
				continue
			}
			line.Ordinal, settled = settled[0].Ordinal, settled[1:]
			if err := line.project(out, raw, p); err != nil {
				return fmt.Errorf("line %d (%s): %w", *line.Ordinal, line.Type, err)
			}
		}
	}
	return w.mark(out, protocol.ContextBackup{Bytes: w.size(), CRC32C: checksum(w.whole()...)})
}

// project writes a line as a projection wants it: as it stands where that has the
// payload and the settled ordinal, else with all its other members as they stand.
func (l *parsed) project(out io.Writer, raw []byte, p Projection) error {
	if l.Type == protocol.LineContextBackup {
		return nil
	}
	payload, keep := p(l.RolloutLine)
	if !keep {
		return nil
	}
	if *l.Ordinal != l.ordinal || !bytes.Equal(payload, l.Payload) {
		var err error
		if raw, err = restate(raw, *l.Ordinal, payload); err != nil {
			return err
		}
	}
	_, err := out.Write(raw)
	if err == nil {
		_, err = io.WriteString(out, "\n")
	}
	return err
}

// restate is a line with another ordinal and payload.
func restate(raw []byte, ordinal int64, payload json.RawMessage) ([]byte, error) {
	payload, err := oneLine(payload)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(raw)+len(payload)), '{')
	scanObject(raw, 0, 0, func(name, value []byte) {
		switch text(name) {
		case "ordinal":
			return
		case "payload":
			value = payload
		}
		out = append(append(append(append(out, name...), ':'), value...), ',')
	})
	out = append(out, `"ordinal":`...)
	return append(strconv.AppendInt(out, ordinal, 10), '}'), nil
}

// mark writes the context_backup line, with the time of the last line: the rewrite has
// none of its own.
func (w *rewriting) mark(out io.Writer, named protocol.ContextBackup) error {
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
	_, err = out.Write(encoded)
	return err
}
