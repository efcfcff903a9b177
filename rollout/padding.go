package rollout

import (
	"bufio"
	"bytes"
)

// placing writes a file whose lines must not begin before given offsets. Spaces at the end
// of the line before make up for what is missing: readers of JSON pass over them, also
// those that take every line for JSON. Where there is no line before, it is a blank one.
type paddedWriter struct {
	out *bufio.Writer
	// at is how many bytes were written.
	written int64
	// open is set while the last line lacks its LF.
	unterminated bool
}

// Write counts. What it is given ends with LF, or nothing follows.
func (p *paddedWriter) Write(b []byte) (int, error) {
	n, err := p.out.Write(b)
	p.written += int64(n)
	return n, err
}

// line writes a line whose LF the next reach writes.
func (p *paddedWriter) line(text []byte) error {
	p.unterminated = true
	_, err := p.Write(text)
	return err
}

// reach makes the next line begin at an offset, unless the file is that long already.
func (p *paddedWriter) padTo(offset int64) error {
	missing := offset - p.written
	if !p.unterminated && missing <= 0 {
		return nil
	}
	for _, part := range spaces(missing - 1) {
		if _, err := p.Write(part); err != nil {
			return err
		}
	}
	p.unterminated = false
	_, err := p.Write([]byte{'\n'})
	return err
}

// spaces are n spaces, in parts of one buffer; none where n is not positive.
func spaces(n int64) (parts [][]byte) {
	if n <= 0 {
		return nil
	}
	buffer := bytes.Repeat([]byte(" "), int(min(n, writeSize)))
	for ; n > writeSize; n -= writeSize {
		parts = append(parts, buffer)
	}
	return append(parts, buffer[:n])
}

// gapOf is n spaces; it is nil where n is not positive.
func padding(n int64) []byte { return bytes.Join(spaces(n), nil) }
