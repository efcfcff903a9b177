package rollout

import (
	"bytes"
	"io"

	"appserver/protocol"
	"appserver/rollout/disk"
	"appserver/rollout/line"
)

// Seed selects lines of another thread. They are copied to the start of a new thread, byte for byte and a few at a
// time.
type Seed struct {
	// First is the first line of the thread. It replaces none of the others.
	First protocol.RolloutLine
	// From reads the other lines. The log that begins with the seed reads them with it as well, from its
	// own file.
	From *LineReader
	// Ordinals are the ordinals of the lines of From, up to the last one of the seed.
	Ordinals []int64
	// Choose decides which lines the thread has, and with what payload.
	Choose Projection
}

// Size returns the size of the lines in bytes, about: without the first one, and with those that Choose leaves out.
func (s *Seed) Size() (size int64) {
	for n := range min(len(s.Ordinals), s.From.Lines()) {
		size += int64(s.From.positions.at(n).size)
	}
	return size
}

// Each calls do with each line that the thread has, and with the line as it is stored, without LF. n is the
// number of the line in From, or -1 for the first one. Both are valid during the call only.
func (s *Seed) Each(do func(n int, entry protocol.RolloutLine, text []byte) error) error {
	first, err := line.Encode([]protocol.RolloutLine{s.First})
	if err != nil {
		return err
	}
	if err := do(-1, s.First, bytes.TrimSuffix(first, []byte("\n"))); err != nil {
		return err
	}
	if s.From.files == nil {
		return errClosed
	}
	files, near := s.From.files, window{}
	for n := range s.Ordinals {
		at := s.From.positions.at(n)
		raw, err := near.text(files, at, windowSize)
		if err != nil {
			return err
		}
		entry, text, keep, err := s.choose(n, raw)
		if err != nil {
			return disk.Wrap("copy", files[at.file].path, err)
		}
		if !keep {
			continue
		}
		if err := do(n, entry, text); err != nil {
			return err
		}
	}
	return nil
}

// choose returns the n-th line as the thread has it.
func (s *Seed) choose(n int, raw []byte) (entry protocol.RolloutLine, text []byte, keep bool, err error) {
	p, reason := line.Parse(raw)
	if reason != "" {
		return entry, nil, false, errLineChanged
	}
	p.Ordinal = &s.Ordinals[n]
	entry, keep = s.Choose(p.RolloutLine)
	if !keep || p.Stated == *p.Ordinal && entry.Type == p.Type && bytes.Equal(entry.Payload, p.Payload) {
		return entry, raw, keep, nil
	}
	entry.Ordinal = p.Ordinal
	text, err = line.Rewrite(raw, entry)
	return entry, text, keep, err
}

// seedWriter writes the lines of a seed. It notes their positions by their number in the origin. A line that
// the thread does not have gets none.
type seedWriter struct {
	out       io.Writer
	size      int64
	positions []linePosition
}

func (w *seedWriter) add(n int, text []byte) error {
	if n >= 0 {
		w.positions[n] = linePosition{offset: w.size, size: uint32(len(text))}
	}
	for _, part := range [][]byte{text, []byte("\n")} {
		if _, err := w.out.Write(part); err != nil {
			return err
		}
	}
	w.size += int64(len(text)) + 1
	return nil
}
