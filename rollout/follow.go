package rollout

import (
	"bytes"
	"errors"
	"io"

	"appserver/protocol"
)

const (
	// followSize is how much of a file is read at once, maxFollowed the longest line
	// that is looked at, both in bytes.
	followSize  = 1 << 20
	maxFollowed = 64 << 20
)

// Follower reads the lines of a file from an offset on, in a buffer that it keeps from
// file to file.
type Follower struct{ buf []byte }

// Follow calls line with the sound lines of a file from an offset on, and where each
// begins, until line is false or the file ends. It returns the offset behind the last
// line that was read; a torn one at the end is left for later. A line is only valid
// during the call.
func (f *Follower) Follow(file File, from int64, line func(offset int64, l protocol.RolloutLine) bool) (int64, error) {
	if f.buf == nil {
		f.buf = make([]byte, followSize)
	}
	for {
		n, err := file.ReadAt(f.buf, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return from, err
		}
		last := err != nil
		end, more := lines(f.buf[:n], from, last, line)
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

// lines reads the lines of a part of a file that begins at an offset. The last part may
// end without LF.
func lines(data []byte, from int64, last bool, line func(int64, protocol.RolloutLine) bool) (end int64, more bool) {
	for len(data) > 0 {
		text, after, whole := bytes.Cut(data, []byte{'\n'})
		if !whole && !last {
			break
		}
		size := int64(len(data) - len(after))
		if from == 0 {
			text = bytes.TrimPrefix(text, []byte(byteOrderMark))
		}
		text, _ = trimLine(text)
		p, reason := parseLine(text)
		if reason != "" && !whole {
			break
		}
		data = after
		from += size
		if reason == "" && !line(from-size, p.RolloutLine) {
			return from, false
		}
	}
	return from, true
}

// widen makes room for a line that is longer than the buffer; one that is too long is
// passed over.
func (f *Follower) widen(file File, from int64) (int64, error) {
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
