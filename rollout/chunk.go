package rollout

import (
	"bytes"
	"errors"
	"io"
	"iter"

	"appserver/protocol"
)

// chunkReader reads files in parts, so that memory does not grow with the file. Sizes are in
// bytes.
type chunkReader struct {
	// size is the length of a read. A longer line is read whole up to maxLine. Of an even
	// longer line the rest is skipped.
	size, maxLine int64
}

const (
	chunkSize = 4 << 20
	maxLine   = 256 << 20
)

// chunk is a part of a file. It consists of whole lines, except for the last chunk.
type chunk struct {
	offset int64
	data   []byte
	// omitted is the number of bytes that are missing from the last line.
	omitted int64
}

// chunks returns an iterator over the chunks of file between two offsets, or to its end. Each
// chunk has a buffer of its own.
func (k chunkReader) chunks(file File, from, to int64) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		c := chunk{offset: from}
		for size := k.size; from < to; {
			n := min(size, to-from)
			data := append(make([]byte, 0, int64(len(c.data))+n), c.data...)
			got, err := file.ReadAt(data[len(data):int64(len(data))+n], from)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(c, err)
				return
			}
			from += int64(got)
			c.data = data[:len(data)+got]
			ended := int64(got) < n || from == to
			whole := c.wholeLines()
			if whole == 0 && !ended {
				if size = min(2*size, k.maxLine); c.replaceLongLine(k.maxLine) {
					size = k.size
				}
				continue
			}
			if whole > 0 && !yield(chunk{c.offset, c.data[:whole], c.omitted}, nil) {
				return
			}
			if whole > 0 {
				c = chunk{offset: c.offset + c.omitted + int64(whole), data: c.data[whole:]}
				size = k.size
			}
			if ended {
				break
			}
		}
		if len(c.data) > 0 {
			yield(c, nil)
		}
	}
}

// wholeLines returns the length of the whole lines. A line with omitted bytes is a chunk of
// its own.
func (c *chunk) wholeLines() int {
	if c.omitted > 0 {
		return bytes.IndexByte(c.data, '\n') + 1
	}
	return bytes.LastIndexByte(c.data, '\n') + 1
}

// replaceLongLine replaces a line above the limit by a byte that is not JSON, so that the line
// is damage.
func (c *chunk) replaceLongLine(limit int64) bool {
	n := int64(len(c.data))
	if n <= limit && c.omitted == 0 {
		return false
	}
	c.omitted += n - 1
	c.data = []byte{'!'}
	return true
}

// span is a part of a file to load.
type span struct {
	file     uint32
	from, to int64
	// lines is the number of lines of the file before the span.
	lines int
	// path is the path of the backup, or "" for the rollout itself.
	path string
}

// readSpan reads the lines of a span and returns the end of the file. A goroutine reads and
// parses the next chunk while the lines of the present one are handled. It ends with the span.
func (l *loading) readSpan(s *span) (end int64, err error) {
	type outcome struct {
		chunk
		blocks []block
		err    error
	}
	next := make(chan outcome, 1)
	go func() {
		defer close(next)
		for c, err := range l.store.chunkReader.chunks(l.lines.files[s.file], s.from, s.to) {
			next <- outcome{c, parseBlocksOf(c.data, workersFor(len(c.data)), c.offset == 0), err}
		}
	}()
	end = s.from
	for o := range next {
		if o.err != nil {
			err = firstError(err, o.err)
			continue
		}
		for i := range o.blocks {
			o.blocks[i].shift(s.lines, o.offset)
			o.blocks[i].setPath(s.path)
			l.addBlock(&o.blocks[i], s.file)
		}
		for i := range o.blocks {
			s.lines += o.blocks[i].count
		}
		end = o.offset + int64(len(o.data)) + o.omitted
		l.unterminated = o.data[len(o.data)-1] != '\n'
	}
	return end, err
}

// lastMarkerOf returns the last marker of a file, or nil.
func (k chunkReader) lastMarkerOf(file File, size int64) (last *marker, err error) {
	lines := 0
	for c, err := range k.chunks(file, 0, size) {
		if err != nil {
			return nil, err
		}
		if m := markerIn(c.data); m != nil {
			m.line += lines
			m.offset += c.offset
			last = m
		}
		lines += bytes.Count(c.data, []byte{'\n'})
	}
	return last, nil
}

var markerMark = []byte(`"` + protocol.LineContextBackup + `"`)

// markerIn returns the last marker in data, which consists of whole lines.
func markerIn(data []byte) *marker {
	if !bytes.Contains(data, markerMark) { // faster than a search from the end
		return nil
	}
	for end := len(data); ; {
		at := bytes.LastIndex(data[:end], markerMark)
		if at < 0 {
			return nil
		}
		begin := bytes.LastIndexByte(data[:at], '\n') + 1
		line, _, _ := bytes.Cut(data[begin:], []byte{'\n'})
		line, _ = trimLine(bytes.TrimPrefix(line, []byte(byteOrderMark)))
		p, reason := parseLine(line)
		if reason == "" && p.Type == protocol.LineContextBackup {
			return &marker{
				line:    1 + bytes.Count(data[:begin], []byte{'\n'}),
				offset:  int64(begin),
				payload: bytes.Clone(p.Payload),
			}
		}
		end = begin
	}
}
