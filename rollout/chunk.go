package rollout

import (
	"bytes"
	"errors"
	"io"
	"iter"

	"appserver/protocol"
)

// chunking says how files are read that are not held in memory whole, in bytes.
type chunkReader struct {
	// size is how much is read at once. A line that is longer is read whole, up to most;
	// of one that is longer still, the rest is passed over.
	size, maxLine int64
}

const (
	chunkSize = 4 << 20
	maxLine   = 256 << 20
)

// chunk is a part of a file, of whole lines but for the last one.
type chunk struct {
	offset int64
	data   []byte
	// cut is how many bytes of its last line are missing.
	omitted int64
}

// of yields a file from an offset to another, or to its end. Each chunk has a buffer of its
// own.
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

// whole is the length of its whole lines; one that was cut stands alone.
func (c *chunk) wholeLines() int {
	if c.omitted > 0 {
		return bytes.IndexByte(c.data, '\n') + 1
	}
	return bytes.LastIndexByte(c.data, '\n') + 1
}

// shorten leaves of a line that is too long what is no JSON, whatever follows.
func (c *chunk) replaceLongLine(most int64) bool {
	n := int64(len(c.data))
	if n <= most && c.omitted == 0 {
		return false
	}
	c.omitted += n - 1
	c.data = []byte{'!'}
	return true
}

// stretch is a part of a file that is loaded.
type span struct {
	file     uint32
	from, to int64
	// lines are those of the file before it.
	lines int
	// path is that of the backup, "" for the rollout itself.
	path string
}

// scan settles the lines of a stretch, and gives the end of what was there. While the
// lines of a chunk are taken, a goroutine reads and parses the next; it ends with the
// stretch.
func (l *loading) readSpan(s *span) (end int64, err error) {
	type outcome struct {
		chunk
		runs []block
		err  error
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
		for i := range o.runs {
			o.runs[i].shift(s.lines, o.offset)
			o.runs[i].setPath(s.path)
			l.addBlock(&o.runs[i], s.file)
		}
		for i := range o.runs {
			s.lines += o.runs[i].count
		}
		end = o.offset + int64(len(o.data)) + o.omitted
		l.unterminated = o.data[len(o.data)-1] != '\n'
	}
	return end, err
}

// lastMarkerOf is the last marker of a file.
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

// markerIn is the last marker in whole lines.
func markerIn(data []byte) *marker {
	if !bytes.Contains(data, markerMark) { // which is faster than to look from behind
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
			return &marker{line: 1 + bytes.Count(data[:begin], []byte{'\n'}), offset: int64(begin), payload: bytes.Clone(p.Payload)}
		}
		end = begin
	}
}
