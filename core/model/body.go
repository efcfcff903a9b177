package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"appserver/core/model/sse"
)

const (
	// eventLimit bounds one event, in bytes.
	eventLimit = 64 << 20
	// readSize is the buffer of a body, in bytes.
	readSize = 16 << 10
	// drainTime is how long the end of the body is awaited after [DONE]: only a body
	// read to its end leaves its connection for the next request.
	drainTime = 20 * time.Millisecond
)

var errNoTerminal = errors.New("it ended without [DONE] or a finish_reason")

// eventBody is the body of an answer as go-openai reads it without harm: one line
// "data: ..." for each event and nothing else. An event with an error member ends
// it with a *reportedError. A body that is a JSON document instead of a stream is
// taken for its only event.
type eventBody struct {
	src    *bufio.Reader
	idle   *idle
	closer io.Closer
	kind   string // the answer's content type
	redact func([]byte) []byte

	events  *sse.Reader // nil before the first read
	seen    int         // events
	done    bool        // [DONE] was seen
	pending [][]byte    // what is left of the line being read
}

func newEventBody(src *idleReader, res *http.Response, redact func([]byte) []byte) *eventBody {
	return &eventBody{
		src: bufio.NewReaderSize(src, readSize), idle: src.idle,
		closer: res.Body, kind: res.Header.Get("Content-Type"), redact: redact,
	}
}

// Close closes the answer.
func (b *eventBody) Close() error { return b.closer.Close() }

// Read gives the next bytes of the lines.
func (b *eventBody) Read(p []byte) (int, error) {
	for len(b.pending) == 0 {
		data, err := b.next()
		if err != nil {
			return 0, err
		}
		if len(data) > 0 {
			b.pending = append(b.pending[:0], []byte("data: "), data, []byte("\n"))
		}
		if bytes.HasPrefix(data, []byte(`{"error":`)) {
			// Without the space go-openai would end the stream here.
			b.pending[0], b.pending[1] = []byte("data: { "), data[1:]
		}
	}
	n := copy(p, b.pending[0])
	if b.pending[0] = b.pending[0][n:]; len(b.pending[0]) == 0 {
		b.pending = b.pending[1:]
	}
	return n, nil
}

func (b *eventBody) next() ([]byte, error) {
	data, err := b.read()
	if err != nil {
		return nil, err
	}
	b.seen++
	b.idle.event()
	data = bytes.TrimSpace(data)
	switch {
	case string(data) == "[DONE]":
		b.done = true
		b.drain()
	case reportsError(data):
		return nil, &reportedError{parseProblem(b.redact(data))}
	}
	return data, nil
}

// read gives the next event, or the document that came instead of events.
func (b *eventBody) read() ([]byte, error) {
	if b.events == nil {
		b.events = sse.NewReader(b.src, eventLimit)
		if b.isDocument() {
			document, err := io.ReadAll(io.LimitReader(b.src, eventLimit))
			return bytes.Map(blankLineEnds, document), err
		}
	}
	return b.events.Next()
}

// isDocument tells whether the body begins like a JSON object.
func (b *eventBody) isDocument() bool {
	for {
		first, err := b.src.ReadByte()
		if err != nil {
			return false
		}
		if first != ' ' && first != '\n' && first != '\r' && first != '\t' {
			return b.src.UnreadByte() == nil && first == '{'
		}
	}
}

func blankLineEnds(r rune) rune {
	if r == '\n' || r == '\r' {
		return ' '
	}
	return r
}

func (b *eventBody) drain() {
	b.idle.shorten(drainTime)
	_, _ = io.Copy(io.Discard, b.src)
}

// why explains an end without a terminal signal.
func (b *eventBody) why(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		return err
	case b.seen == 0:
		return fmt.Errorf("the answer (Content-Type %q) held no events; check base_url", b.kind)
	}
	return errNoTerminal
}

// reportsError tells whether an event has an error member that says something.
func reportsError(event []byte) bool {
	if !bytes.Contains(event, []byte(`"error"`)) {
		return false
	}
	var members struct{ Error json.RawMessage }
	if json.Unmarshal(event, &members) != nil {
		return false
	}
	switch string(members.Error) {
	case "", "null", "false", `""`, "{}":
		return false
	}
	return true
}
