package rollout

import (
	"iter"

	"appserver/platform/disk"
	"appserver/rollout/line"
)

// span is a part of a file to load.
type span struct {
	file     uint32
	from, to int64
	// lines is the number of lines of the file before the span, as far as it is known.
	lines int
	// path is the path of the backup, or "" for the rollout itself.
	path string
	// sum is the checksum of the bytes that were read, or nil if it is not needed.
	sum *uint32
}

// addSum adds a chunk to the checksum.
func (s *span) addSum(c line.Chunk, file disk.File) (err error) {
	switch {
	case s.sum == nil:
	case c.Omitted > 0:
		*s.sum, err = line.FileChecksum(*s.sum, file, c.Offset, c.End())
	default:
		*s.sum = line.UpdateChecksum(*s.sum, c.Data)
	}
	return err
}

// parsedChunk is a chunk with its lines.
type parsedChunk struct {
	line.Chunk
	blocks []line.Block
	err    error
}

// parsed returns an iterator over the chunks of a span. An error is the last one.
func (l *loading) parsed(s *span) iter.Seq[parsedChunk] {
	file := l.lines.files[s.file]
	return func(yield func(parsedChunk) bool) {
		for c, err := range l.store.chunks.Chunks(file, s.from, s.to) {
			if err == nil {
				err = s.addSum(c, file)
			}
			if err != nil {
				yield(parsedChunk{err: err})
				return
			}
			if !yield(parsedChunk{Chunk: c, blocks: line.ParseChunk(c.Data, c.Offset == 0)}) {
				return
			}
		}
	}
}

// readSpan reads the lines of a span and returns the end of the file. The next chunk is read and parsed while the
// lines of the present one are handled.
func (l *loading) readSpan(s *span) (end int64, err error) {
	end = s.from
	for c := range disk.Ahead(l.parsed(s)) {
		if c.err != nil {
			return end, c.err
		}
		for i := range c.blocks {
			c.blocks[i].Shift(s.lines, c.Offset)
			c.blocks[i].SetPath(s.path)
			l.addBlock(&c.blocks[i], s.file)
		}
		for i := range c.blocks {
			s.lines += c.blocks[i].Count
		}
		end = c.End()
		l.unterminated = c.Data[len(c.Data)-1] != '\n'
	}
	return end, nil
}

// addBlock passes the lines of the next block to the handler. file is the number of the
// block's file.
func (l *loading) addBlock(b *line.Block, file uint32) {
	ordinals := make([]int64, len(b.Lines))
	for i := range b.Lines {
		p := &b.Lines[i]
		ordinals[i] = l.ordinals.Assign(p)
		p.Ordinal = &ordinals[i]
		l.handle(p, linePosition{b.Begin + p.Offset, uint32(len(p.Text)), file})
	}
	l.addDamage(b)
	if b.Marker != nil {
		l.marker = b.Marker
	}
}
