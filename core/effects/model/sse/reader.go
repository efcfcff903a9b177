package sse

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrTooLong is wrapped by the error for an event beyond the reader's limit.
var ErrTooLong = errors.New("event too long")

const bufferSize = 16 << 10

// Reader reads events from a stream. It is for one goroutine.
type Reader struct {
	src   *bufio.Reader
	limit int
	begun bool
	// crossed is set after a line that ended with CR. An LF belongs to the same end.
	crossed bool

	event []byte // data of the event being read
	lines int    // data lines in event
	given bool   // event was handed out and is to be cleared
	held  []byte // the line that begins the next event, when it had to be read
	long  []byte // a line that came in several reads
	err   error  // what ended the stream
}

// NewReader reads events of at most limit bytes from src.
func NewReader(src io.Reader, limit int) *Reader {
	return &Reader{src: bufio.NewReaderSize(src, bufferSize), limit: limit}
}

// Next returns the data of the next event, valid until the next call. After the last
// one it is io.EOF, or the error that broke the stream. A line that such an error
// cut is not taken for data.
func (r *Reader) Next() ([]byte, error) {
	if r.given {
		r.event, r.lines, r.given = r.event[:0], 0, false
	}
	if r.held != nil {
		r.take(r.held)
		r.held = nil
	}
	for r.err == nil {
		line, err := r.line()
		r.err = err
		if err != nil && (err != io.EOF || len(line) == 0) {
			break
		}
		if r.take(line) {
			return r.give()
		}
	}
	if r.lines > 0 {
		return r.give()
	}
	return nil, r.err
}

func (r *Reader) give() ([]byte, error) {
	r.given = true
	return r.event, nil
}

// take adds a line to the event and reports whether the event is complete.
func (r *Reader) take(line []byte) bool {
	if len(line) == 0 {
		return r.lines > 0
	}
	data, ok := dataField(line)
	if !ok {
		return false
	}
	if r.lines == 1 && json.Valid(r.event) {
		r.held = line
		return true
	}
	if r.lines > 0 {
		r.event = append(r.event, ' ')
	}
	r.event = append(r.event, data...)
	r.lines++
	if len(r.event) > r.limit {
		r.err = r.tooLong()
		r.lines = 0
	}
	return false
}

// dataField returns the value of a data field; ok is false for any other line.
func dataField(line []byte) (value []byte, ok bool) {
	value, ok = bytes.CutPrefix(line, []byte("data"))
	if !ok || len(value) == 0 {
		return nil, ok
	}
	value, ok = bytes.CutPrefix(value, []byte(":"))
	return bytes.TrimPrefix(value, []byte(" ")), ok
}

// line reads one line and cuts its end off: LF, CR LF, or CR. At the end of the stream it gives what is left
// together with io.EOF.
func (r *Reader) line() ([]byte, error) {
	line, err := r.rawLine()
	if !r.begun {
		r.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line, err
}

// rawLine reads up to the next end of a line.
func (r *Reader) rawLine() ([]byte, error) {
	r.long = r.long[:0]
	for {
		window, err := r.window()
		if err != nil {
			return r.long, err
		}
		if end := lineEnd(window); end >= 0 {
			r.crossed = window[end] == '\r'
			_, _ = r.src.Discard(end + 1)
			if len(r.long) == 0 {
				return window[:end], nil
			}
			r.long = append(r.long, window[:end]...)
			return r.long, r.checked()
		}
		r.long = append(r.long, window...)
		_, _ = r.src.Discard(len(window))
		if err := r.checked(); err != nil {
			return nil, err
		}
	}
}

// window returns the bytes that have arrived, at least one. It skips the LF of a CR LF.
func (r *Reader) window() ([]byte, error) {
	for {
		if _, err := r.src.Peek(1); err != nil {
			return nil, err
		}
		window, _ := r.src.Peek(r.src.Buffered())
		if !r.crossed || window[0] != '\n' {
			r.crossed = false
			return window, nil
		}
		r.crossed = false
		_, _ = r.src.Discard(1)
	}
}

// lineEnd returns the place of the first end of a line, or -1.
func lineEnd(window []byte) int {
	end := bytes.IndexByte(window, '\n')
	if end < 0 {
		return bytes.IndexByte(window, '\r')
	}
	if before := bytes.IndexByte(window[:end], '\r'); before >= 0 {
		return before
	}
	return end
}

// checked fails if the line is too long.
func (r *Reader) checked() error {
	if len(r.long) > r.limit {
		return r.tooLong()
	}
	return nil
}

func (r *Reader) tooLong() error {
	return fmt.Errorf("%w: more than %d bytes", ErrTooLong, r.limit)
}
