package rollout

import (
	"bytes"
	"io"
	"iter"
	"slices"

	"appserver/platform/disk"
	"appserver/protocol"
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
	// Choose decides which lines the thread has, and with what payload. Several goroutines call it.
	Choose Projection
}

// Size returns the approximate size of the lines in bytes. It does not count the first line, and counts the lines that
// Choose leaves out.
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
	var unused [][]byte
	for b := range disk.InOrder(s.batches(&unused), s.read) {
		for _, l := range b.lines {
			if err := do(l.n, l.entry, l.text); err != nil {
				return err
			}
		}
		if b.err != nil {
			return b.err
		}
		unused = append(unused, b.buffer)
	}
	return nil
}

// seedBatch is a run of lines that are close together in one file.
type seedBatch struct {
	// from and to are the numbers of the first line and of the line after the last one. size is the length from the
	// start of the first line to the end of the last one, in bytes.
	from, to int
	size     int64
	// buffer has the text of the lines. lines are those of them that the thread has.
	buffer []byte
	lines  []seedLine
	err    error
}

type seedLine struct {
	n     int
	entry protocol.RolloutLine
	text  []byte
}

// batchSize is the greatest length of a batch in bytes, unless a line is longer. Several batches are in memory, and in
// the caches of the processors.
const batchSize = 256 << 10

// batches returns an iterator over batches that are not read. They get the unused buffers.
func (s *Seed) batches(unused *[][]byte) iter.Seq[seedBatch] {
	return func(yield func(seedBatch) bool) {
		for b := (seedBatch{}); b.from < len(s.Ordinals); b = (seedBatch{from: b.to}) {
			s.extend(&b)
			if n := len(*unused); n > 0 {
				b.buffer, *unused = (*unused)[n-1], (*unused)[:n-1]
			}
			if !yield(b) {
				return
			}
		}
	}
}

// extend sets the end of a batch.
func (s *Seed) extend(b *seedBatch) {
	first := s.From.positions.at(b.from)
	b.to, b.size = b.from+1, int64(first.size)
	for ; b.to < len(s.Ordinals); b.to++ {
		at := s.From.positions.at(b.to)
		size := at.offset + int64(at.size) - first.offset
		if at.file != first.file || at.offset < first.offset+b.size || size > batchSize {
			return
		}
		b.size = size
	}
}

// read reads the lines of a batch.
func (s *Seed) read(b seedBatch) seedBatch {
	first := s.From.positions.at(b.from)
	file := &s.From.files[first.file]
	b.buffer = slices.Grow(b.buffer[:0], int(b.size))[:b.size]
	if n, err := file.ReadAt(b.buffer, first.offset); n < len(b.buffer) {
		b.err = disk.Wrap("read", file.path, err)
		return b
	}
	b.lines = make([]seedLine, 0, b.to-b.from)
	for n := b.from; n < b.to; n++ {
		at := s.From.positions.at(n)
		begin := at.offset - first.offset
		entry, text, keep, err := s.choose(n, b.buffer[begin:begin+int64(at.size)])
		if err != nil {
			b.err = disk.Wrap("copy", file.path, err)
			return b
		}
		if keep {
			b.lines = append(b.lines, seedLine{n, entry, text})
		}
	}
	return b
}

// choose returns the n-th line as the thread has it. The load has validated it: if its head is as it was and its
// payload stays, it is copied without being parsed again.
func (s *Seed) choose(n int, raw []byte) (entry protocol.RolloutLine, text []byte, keep bool, err error) {
	if p, ok := line.ParseHead(raw); ok {
		if entry, keep, same := s.ask(n, &p); same {
			return entry, raw, keep, nil
		}
	}
	p, reason := line.Parse(raw)
	if reason != "" {
		return entry, nil, false, errLineChanged
	}
	entry, keep, same := s.ask(n, &p)
	if same {
		return entry, raw, keep, nil
	}
	entry.Ordinal = p.Ordinal
	text, err = line.Rewrite(raw, entry)
	return entry, text, keep, err
}

// ask lets Choose decide. same is set if the line is copied, or left out.
func (s *Seed) ask(n int, p *line.Parsed) (entry protocol.RolloutLine, keep, same bool) {
	p.Ordinal = &s.Ordinals[n]
	entry, keep = s.Choose(p.RolloutLine)
	same = !keep || p.Stated == *p.Ordinal && entry.Type == p.Type && bytes.Equal(entry.Payload, p.Payload)
	return entry, keep, same
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
