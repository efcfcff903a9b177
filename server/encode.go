package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"appserver/protocol"
)

// encoder appends messages in wire form to a buffer. It belongs to the writer.
type encoder struct {
	buf  []byte
	json *json.Encoder
	// out gets the parts of a long response before its end, unless the response is held for a batch.
	out  io.Writer
	held bool
	// writeErr is the error of out. unread is the error of a response that was sent without some items.
	writeErr, unread error
	// batchedBytes counts encoded responses that are held for incomplete batches.
	batchedBytes int
}

func newEncoder(out io.Writer) *encoder {
	e := &encoder{out: out}
	e.json = json.NewEncoder(e)
	e.json.SetEscapeHTML(false)
	return e
}

// Write appends p. It implements io.Writer for json.Encoder.
func (e *encoder) Write(p []byte) (int, error) {
	e.buf = append(e.buf, p...)
	return len(p), nil
}

func (e *encoder) text(s string) { e.buf = append(e.buf, s...) }

// sized is implemented by values with an encoding of their own.
type sized interface {
	// JSONSize returns the approximate length of the encoding in bytes.
	JSONSize() int
}

// appender is a value whose encoding equals that of protocol.Marshal.
type appender interface {
	sized
	AppendJSON(b []byte) ([]byte, error)
}

// partAppender is implemented by values with long encodings.
type partAppender interface {
	// AppendParts appends what protocol.Marshal writes, in well-formed JSON. It may pass the buffer to
	// flush at any time.
	AppendParts(b []byte, flush protocol.Flush) ([]byte, error)
}

// streamer is implemented by values that can be too long for memory.
type streamer interface {
	partAppender
	// StoredSize returns the approximate memory of a value whose encoding is read from files, in
	// bytes, or 0 if there is nothing to read.
	StoredSize() int
}

// flush writes a part of a message.
func (e *encoder) flush(b []byte) ([]byte, error) {
	if e.held {
		return b, nil
	}
	if _, e.writeErr = e.out.Write(b); e.writeErr != nil {
		return b[:0], e.writeErr
	}
	return b[:0], nil
}

func (e *encoder) parts(s partAppender) (err error) {
	e.buf, err = s.AppendParts(e.buf, e.flush)
	var unread *protocol.UnreadError
	if errors.As(err, &unread) {
		e.unread = err
		return nil
	}
	return err
}

// value appends v as protocol.Marshal encodes it. A panic in a marshaler is returned as an
// error.
//
// All raw JSON of files, providers and MCP servers passes through here. ToWellFormed makes
// sure that the output is valid JSON in UTF-8.
func (e *encoder) value(v any) (err error) {
	if a, ok := v.(appender); ok {
		e.buf, err = a.AppendJSON(slices.Grow(e.buf, a.JSONSize()))
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encoding %T: panic: %v", v, p)
		}
	}()
	if p, ok := v.(partAppender); ok && hasParts(v) {
		return e.parts(p)
	}
	start := len(e.buf)
	if err := e.json.Encode(v); err != nil {
		return fmt.Errorf("encoding %T: %w", v, err)
	}
	text := e.buf[start : len(e.buf)-len("\n")]
	e.buf = append(e.buf[:start], protocol.ToWellFormed(text)...)
	return nil
}

// hasParts reports whether a partAppender has to be encoded by its own encoder.
func hasParts(v any) bool {
	s, ok := v.(streamer)
	return !ok || s.StoredSize() > 0
}

func (e *encoder) method(name string) {
	e.text(`{"jsonrpc":"2.0","method":`)
	e.buf = protocol.AppendString(e.buf, name)
	e.text(`,"params":`)
}

// emitted closes a notification with the time at which it was queued.
func (e *encoder) emitted(at time.Time) {
	e.text(`,"emittedAtMs":`)
	e.buf = strconv.AppendInt(e.buf, at.UnixMilli(), 10)
	e.text("}\n")
}

// reset empties the buffer, and frees it if it is large.
func (e *encoder) reset() {
	e.buf = e.buf[:0]
	if cap(e.buf) > maxRetainedBuffer {
		e.buf = nil
	}
}

// delta appends the params of d with text in place of its own text. The listed types avoid
// encoding/json, because deltas are the most frequent messages.
func (e *encoder) delta(d protocol.Delta, text string) error {
	switch d := d.(type) {
	case *protocol.AgentMessageDeltaNotification:
		e.deltaOf(d.ThreadID, d.TurnID, d.ItemID, text)
	case *protocol.PlanDeltaNotification:
		e.deltaOf(d.ThreadID, d.TurnID, d.ItemID, text)
	case *protocol.CommandExecutionOutputDeltaNotification:
		e.deltaOf(d.ThreadID, d.TurnID, d.ItemID, text)
	case *protocol.ReasoningSummaryTextDeltaNotification:
		e.deltaOf(d.ThreadID, d.TurnID, d.ItemID, text)
		e.index(`,"summaryIndex":`, d.SummaryIndex)
	case *protocol.ReasoningTextDeltaNotification:
		e.deltaOf(d.ThreadID, d.TurnID, d.ItemID, text)
		e.index(`,"contentIndex":`, d.ContentIndex)
	default:
		return e.value(d.WithDelta(text))
	}
	e.text("}")
	return nil
}

func (e *encoder) deltaOf(threadID, turnID, itemID, text string) {
	e.text(`{"threadId":`)
	e.buf = protocol.AppendString(e.buf, threadID)
	e.text(`,"turnId":`)
	e.buf = protocol.AppendString(e.buf, turnID)
	e.text(`,"itemId":`)
	e.buf = protocol.AppendString(e.buf, itemID)
	e.text(`,"delta":`)
	e.buf = protocol.AppendString(e.buf, text)
}

func (e *encoder) index(member string, i int) {
	e.text(member)
	e.buf = strconv.AppendInt(e.buf, int64(i), 10)
}
