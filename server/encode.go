package server

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"appserver/protocol"
)

// encoder collects messages in their wire form. It belongs to the writer.
type encoder struct {
	buf  []byte
	json *json.Encoder
}

func newEncoder() *encoder {
	e := new(encoder)
	e.json = json.NewEncoder(e)
	e.json.SetEscapeHTML(false)
	return e
}

// Write appends p.
func (e *encoder) Write(p []byte) (int, error) {
	e.buf = append(e.buf, p...)
	return len(p), nil
}

func (e *encoder) text(s string) { e.buf = append(e.buf, s...) }

// value appends v as protocol.Marshal writes it. A marshaler that panics is an
// error.
func (e *encoder) value(v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encoding %T: panic: %v", v, p)
		}
	}()
	if err := e.json.Encode(v); err != nil {
		return fmt.Errorf("encoding %T: %w", v, err)
	}
	e.buf = e.buf[:len(e.buf)-len("\n")]
	return nil
}

func (e *encoder) method(name string) {
	e.text(`{"jsonrpc":"2.0","method":`)
	e.buf = appendString(e.buf, name)
	e.text(`,"params":`)
}

// reset makes room for the next messages.
func (e *encoder) reset() {
	e.buf = e.buf[:0]
	if cap(e.buf) > keptBuffer {
		e.buf = nil
	}
}

// delta appends the params of d with another text. Types that it does not
// know go through encoding/json.
func (e *encoder) delta(d protocol.Delta, text string) error {
	switch d := d.(type) {
	case *protocol.AgentMessageDeltaNotification:
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
	e.buf = appendString(e.buf, threadID)
	e.text(`,"turnId":`)
	e.buf = appendString(e.buf, turnID)
	e.text(`,"itemId":`)
	e.buf = appendString(e.buf, itemID)
	e.text(`,"delta":`)
	e.buf = appendString(e.buf, text)
}

func (e *encoder) index(member string, i int) {
	e.text(member)
	e.buf = strconv.AppendInt(e.buf, int64(i), 10)
}

// appendString appends s as a JSON string, byte for byte as protocol.Marshal does:
// invalid UTF-8 becomes U+FFFD, and U+2028 and U+2029 are escaped.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				b = appendEscape(append(b, s[start:i]...), c)
				start = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if escape := escapeOf(r, size); escape != "" {
			b = append(append(b, s[start:i]...), escape...)
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

func escapeOf(r rune, size int) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return `\ufffd`
	case r == '\u2028':
		return `\u2028`
	case r == '\u2029':
		return `\u2029`
	}
	return ""
}

func appendEscape(b []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
