package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"appserver/protocol"
)

// cleanedBody is the body of a response whose results are cleaned by cleanResult: a message, or a stream of events with
// a message each. It overrides Read.
type cleanedBody struct {
	io.ReadCloser
	lines messages
	// stream is set for events. Otherwise whole is set once the body was read.
	stream, whole bool
	rest          []byte
	ctx           context.Context // of the request
}

// cleanBody cleans the body of a response with messages.
func cleanBody(response *http.Response) {
	kind := strings.ToLower(response.Header.Get("Content-Type"))
	stream := strings.HasPrefix(kind, "text/event-stream")
	if !stream && !strings.HasPrefix(kind, "application/json") {
		return
	}
	response.Body = &cleanedBody{ReadCloser: response.Body, stream: stream, ctx: response.Request.Context(),
		lines: messages{in: bufio.NewReaderSize(response.Body, 64<<10)}}
	response.ContentLength = -1
	response.Header.Del("Content-Length")
}

// Read returns the message, or the events one by one.
func (b *cleanedBody) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		text, err := b.next()
		if len(text) == 0 && err != nil {
			return 0, err
		}
		b.rest = text
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *cleanedBody) next() ([]byte, error) {
	if b.stream {
		return b.event()
	}
	if b.whole {
		return nil, io.EOF
	}
	b.whole = true
	text, err := io.ReadAll(io.LimitReader(b.lines.in, maxLine+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxLine:
		return nil, errLine
	case len(text) == 0:
		return nil, io.EOF
	}
	return cleanMessage(text), nil
}

// event returns the next event, with its data in one line if it is a message with a result. At the end of the stream it
// returns the lines of an event that is not complete.
func (b *cleanedBody) event() ([]byte, error) {
	var event, data []byte
	hasData := false
	for {
		line, err := b.lines.line()
		if len(event)+len(data)+len(line) > maxLine {
			return nil, errLine
		}
		text := bytes.TrimRight(line, "\r\n")
		value, isData := bytes.CutPrefix(text, []byte("data:"))
		switch {
		case isData && hasData:
			data = append(append(data, '\n'), bytes.TrimPrefix(value, []byte(" "))...)
		case isData:
			data, hasData = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
		case len(text) > 0:
			event = append(append(event, text...), '\n')
		case err == nil && !hasData: // an event without data
			return append(event, '\n'), nil
		case err == nil:
			noticeListChanged(b.ctx, data)
			return append(append(event, dataLines(data)...), '\n'), nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) && hasData {
				event = append(event, dataLines(data)...)
			}
			return event, err
		}
	}
}

// dataLines returns the lines of an event with data.
func dataLines(data []byte) []byte {
	var lines []byte
	for line := range bytes.SplitSeq(cleanMessage(data), []byte{'\n'}) {
		lines = append(append(append(lines, "data: "...), line...), '\n')
	}
	return lines
}

// cleanMessage cleans the result of a message. Other texts stay.
func cleanMessage(text []byte) []byte {
	var members map[string]json.RawMessage
	if !bytes.Contains(text, []byte(`"result"`)) || protocol.Unmarshal(text, &members) != nil {
		return text
	}
	clean := cleanResult(members["result"])
	if bytes.Equal(clean, members["result"]) {
		return text
	}
	members["result"] = clean
	raw, err := protocol.Marshal(members)
	if err != nil {
		return text
	}
	return raw
}
