package line

import (
	"bytes"
	"errors"
	"io"

	"appserver/protocol"
)

const (
	// followSize is the length of a read, and maxFollowed that of the longest line that is
	// parsed, in bytes.
	followSize  = 1 << 20
	maxFollowed = 64 << 20
)

// Follower reads the lines of a file from an offset on. It reuses its buffer for several
// files.
type Follower struct{ buf []byte }

// Follow calls line with each sound line from an offset on, and with the offset of the line.
// It stops at the end of the file, or when line returns false. It returns the offset after the
// last line that was read, without a torn tail. A line is valid during the call only.
func (f *Follower) Follow(
	file io.ReaderAt,
	from int64,
	line func(offset int64, l protocol.RolloutLine) bool,
) (int64, error) {
	if f.buf == nil {
		f.buf = make([]byte, followSize)
	}
	for {
		n, err := file.ReadAt(f.buf, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return from, err
		}
		last := err != nil
		end, more := eachLine(f.buf[:n], from, last, line)
		switch {
		case !more || last:
			return end, nil
		case end == from:
			if end, err = f.widen(file, from); err != nil {
				return from, err
			}
		}
		from = end
	}
}

// eachLine calls line with the lines of a part of a file that begins at offset from. The last
// part may lack the final LF.
func eachLine(
	data []byte,
	from int64,
	last bool,
	line func(int64, protocol.RolloutLine) bool,
) (end int64, more bool) {
	for len(data) > 0 {
		text, after, whole := bytes.Cut(data, []byte{'\n'})
		if !whole && !last {
			break
		}
		size := int64(len(data) - len(after))
		if from == 0 {
			text = bytes.TrimPrefix(text, []byte(ByteOrderMark))
		}
		text, _ = Trim(text)
		p, reason := Parse(text)
		if reason != "" && !whole {
			break
		}
		data = after
		from += size
		if reason == "" {
			if !line(from-size, p.RolloutLine) {
				return from, false
			}
			continue
		}
		for p := range Records(text) {
			if !line(from-size+p.Offset, p.RolloutLine) {
				return from, false
			}
		}
	}
	return from, true
}

// widen enlarges the buffer for a long line. A line above maxFollowed is skipped.
func (f *Follower) widen(file io.ReaderAt, from int64) (int64, error) {
	if len(f.buf) < maxFollowed {
		f.buf = make([]byte, 4*len(f.buf))
		return from, nil
	}
	for {
		n, err := file.ReadAt(f.buf, from)
		if i := bytes.IndexByte(f.buf[:n], '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		if errors.Is(err, io.EOF) {
			return from + int64(n), nil
		}
		if err != nil {
			return from, err
		}
		from += int64(n)
	}
}
