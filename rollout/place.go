package rollout

import (
	"bufio"
	"bytes"
)

// placing writes a file whose lines must not begin before given offsets.
type placing struct {
	out *bufio.Writer
	// at is how many bytes were written.
	at int64
	// spaces are kept from one blank line to the next.
	spaces []byte
}

// Write counts.
func (p *placing) Write(b []byte) (int, error) {
	n, err := p.out.Write(b)
	p.at += int64(n)
	return n, err
}

// line writes a line that has no LF yet.
func (p *placing) line(text []byte) error {
	if _, err := p.Write(text); err != nil {
		return err
	}
	p.at++
	return p.out.WriteByte('\n')
}

// reach makes the next line begin at an offset, with a blank line before it, unless
// the file is that long already.
func (p *placing) reach(offset int64) error {
	if p.at >= offset {
		return nil
	}
	if p.spaces == nil {
		p.spaces = bytes.Repeat([]byte(" "), writeSize)
	}
	for offset-p.at > writeSize {
		if _, err := p.Write(p.spaces); err != nil {
			return err
		}
	}
	return p.line(p.spaces[:offset-p.at-1])
}

// blankLine makes what follows begin n bytes later; it is nil where that is not later.
func blankLine(n int64) []byte {
	if n <= 0 {
		return nil
	}
	line := bytes.Repeat([]byte(" "), int(n))
	line[n-1] = '\n'
	return line
}
