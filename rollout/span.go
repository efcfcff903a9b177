package rollout

import (
	"cmp"

	"appserver/rollout/disk"
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

// readSpan reads the lines of a span and returns the end of the file. A goroutine reads and
// parses the next chunk while the lines of the present one are handled. It ends with the span.
func (l *loading) readSpan(s *span) (end int64, err error) {
	type outcome struct {
		line.Chunk
		blocks []line.Block
		err    error
	}
	next, file := make(chan outcome, 1), l.lines.files[s.file]
	go func() {
		defer close(next)
		for c, err := range l.store.chunks.Chunks(file, s.from, s.to) {
			if err == nil {
				err = s.addSum(c, file)
			}
			next <- outcome{c, line.ParseChunk(c.Data, c.Offset == 0), err}
		}
	}()
	end = s.from
	for o := range next {
		if o.err != nil {
			err = cmp.Or(err, o.err)
			continue
		}
		for i := range o.blocks {
			o.blocks[i].Shift(s.lines, o.Offset)
			o.blocks[i].SetPath(s.path)
			l.addBlock(&o.blocks[i], s.file)
		}
		for i := range o.blocks {
			s.lines += o.blocks[i].Count
		}
		end = o.End()
		l.unterminated = o.Data[len(o.Data)-1] != '\n'
	}
	return end, err
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
