package server

import (
	"bytes"
	"errors"
	"io"
)

const (
	initialBuffer = 64 << 10
	// maxRetainedBuffer is the size above which a buffer is freed after use, in bytes.
	maxRetainedBuffer = 1 << 20
	maxEmptyReads     = 100
)

const byteOrderMark = "\xef\xbb\xbf"

// lineSlack is the number of bytes that may surround the longest line.
const lineSlack = len(byteOrderMark) + len("\r")

var errLineTooLong = errors.New("line is too long")

// lineReader splits its input into lines that end with LF or CRLF. The last line may lack the
// end. A byte order mark before the first line is skipped.
type lineReader struct {
	in  io.Reader
	max int // maximum length of a line, without its end

	buf        []byte
	start, end int // buf[start:end] is read and not yet returned
	scanned    int // buf[start:scanned] contains no LF
	started    bool
	err        error // error at the end of the input
}

// next returns the next line without its end. The line is valid until the next call. If a line
// is too long, next skips it and returns errLineTooLong; the next call continues after it. Any
// other error comes from the input and is final.
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

// skip discards input up to and including the next LF.
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

// makeRoom moves the unread bytes to the front of the buffer, or doubles the buffer. The
// buffer is at most one byte larger than the longest line, which is enough to detect a longer
// one.
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
