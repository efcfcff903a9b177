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

	"appserver/core/effects/model/sse"
	"appserver/core/pure/jsonrepair"
	"appserver/protocol"
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

// eventBody is the body of an answer. A body that is a JSON document instead of a stream is
// taken for its only event. Of JSON documents in lines, each line is an event.
type eventBody struct {
	src  *bufio.Reader
	idle *idle
	kind string // the answer's content type
	from *Client

	events *sse.Reader   // nil before the first read
	lines  *bufio.Reader // the lines of documents, or nil
	seen   int           // events
	done   bool          // [DONE] was seen
}

func newEventBody(src *idleReader, res *http.Response, from *Client) *eventBody {
	return &eventBody{
		src: bufio.NewReaderSize(src, readSize), idle: src.idle,
		kind: res.Header.Get("Content-Type"), from: from,
	}
}

// next returns the data of the next event that is not blank, valid until the next call. After [DONE]
// it is io.EOF; an event with an error member is a *reportedError.
func (b *eventBody) next() ([]byte, error) {
	for !b.done {
		data, err := b.read()
		if err != nil {
			return nil, err
		}
		b.seen++
		b.idle.event()
		data = jsonrepair.Escape(bytes.TrimSpace(data))
		switch {
		case string(data) == "[DONE]":
			b.done = true
			b.drain()
		case reportsError(data):
			return nil, &reportedError{parseProblem(b.from.withoutSecrets(data))}
		case len(data) > 0:
			return data, nil
		}
	}
	return nil, io.EOF
}

// read returns the next event, or the document that came instead of events.
func (b *eventBody) read() ([]byte, error) {
	if b.events == nil {
		b.events = sse.NewReader(b.src, eventLimit)
		if b.isDocument() {
			return b.document()
		}
	}
	if b.lines != nil {
		return b.line()
	}
	return b.events.Next()
}

// document reads a document that may have several lines. If the first line is a document by itself, so are the
// next ones.
func (b *eventBody) document() ([]byte, error) {
	b.lines = bufio.NewReader(io.LimitReader(b.src, eventLimit))
	first, err := b.line()
	if err != nil || json.Valid(first) {
		return first, err
	}
	rest, err := io.ReadAll(b.lines)
	return append(first, rest...), err
}

// line reads a line that is not empty.
func (b *eventBody) line() ([]byte, error) {
	line, err := b.lines.ReadBytes('\n')
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	return line, err
}

// isDocument reports whether the body begins like a JSON object.
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

func (b *eventBody) drain() {
	b.idle.renew(drainTime)
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
	return fmt.Errorf("it ended without %s", b.from.wire.Terminal())
}

// reportsError reports whether an event has an error member with content.
func reportsError(event []byte) bool {
	if !bytes.Contains(event, []byte(`"error"`)) {
		return false
	}
	var members struct {
		Error json.RawMessage `json:"error"`
	}
	if protocol.Unmarshal(event, &members) != nil {
		return false
	}
	switch string(members.Error) {
	case "", "null", "false", `""`, "{}":
		return false
	}
	return true
}
