package server

import (
	"bytes"
	"errors"
	"io"
)

const (
	initialBuffer = 64 << 10
	// keptBuffer is the largest buffer that is kept after the line or the chunk
	// that made it grow.
	maxRetainedBuffer = 1 << 20
	maxEmptyReads     = 100
)

const byteOrderMark = "\xef\xbb\xbf"

// lineSlack is what may surround a line of the greatest length.
const lineSlack = len(byteOrderMark) + len("\r")

var errLineTooLong = errors.New("line is too long")

// lineReader cuts its input into lines that end with LF or CRLF; the last line
// needs no end. A byte order mark before the first line is passed over.
type lineReader struct {
	in  io.Reader
	max int // length of the longest line, without its end

	buf        []byte
	start, end int // buf[start:end] was read and not yet handed out
	scanned    int // buf[start:scanned] holds no LF
	started    bool
	err        error // what the input ended with
}

// next is the next line without its end, valid until the next call. A line that
// is too long is skipped to its end and reported by errLineTooLong; the call after
// that goes on behind it. Every other error is the input's, and final.
func (r *lineReader) next() ([]byte, error) {
	r.reset()
	for {
		if i := bytes.IndexByte(r.buf[r.scanned:r.end], '\n'); i >= 0 {
			return r.cutLine(r.scanned+i, len("\n"))
		}
		r.scanned = r.end
		switch {
		case r.err != nil && r.start == r.end:
			return nil, r.err
		case r.err != nil:
			return r.cutLine(r.end, 0)
		case r.end-r.start > r.max+lineSlack:
			return nil, r.skip()
		}
		r.read()
	}
}

func (r *lineReader) cutLine(end, terminator int) ([]byte, error) {
	line := r.buf[r.start:end]
	r.start = end + terminator
	r.scanned = r.start
	if !r.started {
		r.started = true
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) > r.max {
		return nil, errLineTooLong
	}
	return line, nil
}

// skip drops everything up to the next LF.
func (r *lineReader) skip() error {
	r.started = true
	for {
		r.start, r.end, r.scanned = 0, 0, 0
		if r.err != nil {
			return errLineTooLong
		}
		r.read()
		if i := bytes.IndexByte(r.buf[:r.end], '\n'); i >= 0 {
			r.start, r.scanned = i+1, i+1
			return errLineTooLong
		}
	}
}

func (r *lineReader) read() {
	if r.end == len(r.buf) {
		r.makeRoom()
	}
	for range maxEmptyReads {
		n, err := r.in.Read(r.buf[r.end:])
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// makeRoom moves what is left to the front, or else doubles the buffer, up to what
// tells a line of the greatest length from a longer one.
func (r *lineReader) makeRoom() {
	to := r.buf
	if r.start == 0 {
		size := min(max(2*len(r.buf), initialBuffer), r.max+lineSlack+1)
		to = make([]byte, max(size, len(r.buf)+1))
	}
	n := copy(to, r.buf[r.start:r.end])
	r.scanned -= r.start
	r.buf, r.start, r.end = to, 0, n
}

func (r *lineReader) reset() {
	if r.start != r.end {
		return
	}
	r.start, r.end, r.scanned = 0, 0, 0
	if len(r.buf) > maxRetainedBuffer {
		r.buf = nil
	}
}
