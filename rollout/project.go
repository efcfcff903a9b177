package rollout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout/line"
)

// Projection decides whether a rewritten file has a line, and with what type and payload. It
// is called once for each line except context_backup lines, in order. It must not modify its
// argument.
type Projection func(line protocol.RolloutLine) (projected protocol.RolloutLine, keep bool)

// writeFull writes the full log byte for byte, and a marker without a backup.
func (w *rewrite) writeFull(out *line.PaddedWriter) error {
	if w.first != nil {
		if err := w.copy(out, *w.first); err != nil {
			return err
		}
	}
	if _, err := out.Write(line.Padding(w.padding())); err != nil {
		return err
	}
	if err := w.copy(out, w.own); err != nil {
		return err
	}
	last, err := w.readLines(func(*line.Parsed, int64) error { return nil })
	if err != nil {
		return err
	}
	return writeMarker(out, w.Contents, last, protocol.ContextBackup{})
}

// copy writes the bytes of a span.
func (w *rewrite) copy(out io.Writer, s span) error {
	_, err := io.Copy(out, io.NewSectionReader(w.lines.files[s.file], s.from, s.to-s.from))
	return err
}

// project writes the lines that the projection keeps, and a marker for the backup.
func (w *rewrite) project(out *line.PaddedWriter, choose Projection) error {
	if w.first == nil {
		w.own.sum = &w.sum
	}
	last, err := w.readLines(func(l *line.Parsed, begin int64) error {
		if err := projectLine(out, choose, l, begin); err != nil {
			return fmt.Errorf("line %d (%s): %w", *l.Ordinal, l.Type, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return writeMarker(out, w.Contents, last, protocol.ContextBackup{Bytes: w.size(), CRC32C: w.sum})
}

// readLines calls do with each sound line of the full log and the offset at which it begins there. It sets the ordinal
// of the next line, and returns the timestamp of the last one. A few lines are in memory at a time.
func (w *rewrite) readLines(do func(l *line.Parsed, begin int64) error) (last string, err error) {
	var failed error
	shift := int64(0)
	w.handle = func(l *line.Parsed, at linePosition) {
		last = l.Timestamp
		if failed == nil {
			failed = do(l, at.offset-int64(l.Indent)+shift)
		}
	}
	if w.first != nil {
		_, err = w.readSpan(w.first)
		shift = max(0, w.first.to-w.own.from)
	}
	if err == nil {
		_, err = w.readSpan(&w.own)
	}
	w.finish()
	return last, cmp.Or(disk.Wrap("read", w.Path, err), failed)
}

// projectLine writes a projected line. If type, payload and ordinal are unchanged, the line is
// copied. Otherwise its other members are kept.
func projectLine(out *line.PaddedWriter, choose Projection, l *line.Parsed, begin int64) error {
	if l.Type == protocol.LineContextBackup {
		return nil
	}
	projected, keep := choose(l.RolloutLine)
	if !keep {
		return nil
	}
	text := l.Text
	if *l.Ordinal != l.Stated || projected.Type != l.Type || !bytes.Equal(projected.Payload, l.Payload) {
		projected.Ordinal = l.Ordinal
		var err error
		if text, err = line.Rewrite(l.Text, projected); err != nil {
			return err
		}
	}
	if err := out.PadTo(begin); err != nil {
		return err
	}
	return out.Line(text)
}

// writeMarker writes the context_backup line, at or after the former end of the file. It has
// the timestamp of the last line, because a rewrite is not an update of the thread.
func writeMarker(out *line.PaddedWriter, of *Contents, timestamp string, named protocol.ContextBackup) error {
	payload, err := json.Marshal(named)
	if err != nil {
		return err
	}
	encoded, err := line.Encode([]protocol.RolloutLine{
		{Timestamp: timestamp, Ordinal: &of.Next, Type: protocol.LineContextBackup, Payload: payload},
	})
	if err != nil {
		return err
	}
	if err := out.PadTo(of.Size); err != nil {
		return err
	}
	_, err = out.Write(encoded)
	return err
}
