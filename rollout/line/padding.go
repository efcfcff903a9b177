package line

import (
	"bytes"
	"io"

	"appserver/platform/disk"
)

// PaddedWriter writes lines that must not begin before given offsets. It fills gaps with
// spaces at the end of the previous line, because JSON parsers skip them there. Without a
// previous line it writes a blank one.
type PaddedWriter struct {
	out io.Writer
	// written is the number of bytes written.
	written int64
	// unterminated is set while the last line lacks its LF.
	unterminated bool
}

// NewPaddedWriter returns a writer at offset 0.
func NewPaddedWriter(out io.Writer) *PaddedWriter { return &PaddedWriter{out: out} }

// IsUnterminated reports whether the last line lacks its LF.
func (p *PaddedWriter) IsUnterminated() bool { return p.unterminated }

// Write appends b and counts it. b must end with LF, unless nothing follows.
func (p *PaddedWriter) Write(b []byte) (int, error) {
	n, err := p.out.Write(b)
	p.written += int64(n)
	return n, err
}

// Line writes a line without its LF. PadTo writes the LF.
func (p *PaddedWriter) Line(text []byte) error {
	p.unterminated = true
	_, err := p.Write(text)
	return err
}

// PadTo ends the line and pads the file to an offset. A longer file is not padded.
func (p *PaddedWriter) PadTo(offset int64) error {
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

// spaces returns n spaces as parts of one buffer, or none if n is not positive.
func spaces(n int64) (parts [][]byte) {
	if n <= 0 {
		return nil
	}
	buffer := bytes.Repeat([]byte(" "), int(min(n, disk.WriteSize)))
	for ; n > disk.WriteSize; n -= disk.WriteSize {
		parts = append(parts, buffer)
	}
	return append(parts, buffer[:n])
}

// Padding returns n spaces, or nil if n is not positive.
func Padding(n int64) []byte { return bytes.Join(spaces(n), nil) }
