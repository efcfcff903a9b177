package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"appserver/protocol"
)

// cleanedBody is the body of a response with a list of tools, cleaned by cleanTools: a message, or a stream of events
// with a message each.
type cleanedBody struct {
	io.ReadCloser
	lines messages
	// stream is set for events. Otherwise whole is set once the body was read.
	stream, whole bool
	rest          []byte
}

// cleanBody cleans the body of a response to a request, if that asks for tools.
func cleanBody(request *http.Request, response *http.Response) {
	if !asksForTools(request) {
		return
	}
	response.Body = &cleanedBody{ReadCloser: response.Body,
		lines:  messages{in: bufio.NewReaderSize(response.Body, 64<<10)},
		stream: strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream")}
	response.ContentLength = -1
	response.Header.Del("Content-Length")
}

// maxAsked bounds the request that asksForTools reads, in bytes. A larger one is a call.
const maxAsked = 4096

func asksForTools(r *http.Request) bool {
	if r.Method != http.MethodPost || r.GetBody == nil || r.ContentLength > maxAsked {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	text, _ := io.ReadAll(io.LimitReader(body, maxAsked)) // as much as can be read
	return bytes.Contains(text, []byte(`"tools/list"`))
}

// Read returns the message, or the events line by line.
func (b *cleanedBody) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		text, err := b.next()
		if len(text) == 0 && err != nil {
			return 0, err
		}
		b.rest = cleanMessage(text)
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *cleanedBody) next() ([]byte, error) {
	if b.stream {
		return b.lines.line()
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
	return text, nil
}

// cleanMessage cleans the result of a message, or of one in a line of an event. Other texts stay.
func cleanMessage(text []byte) []byte {
	given, isEvent := bytes.CutPrefix(text, []byte("data:"))
	var members map[string]json.RawMessage
	if !bytes.Contains(given, toolsMember) || protocol.Unmarshal(bytes.TrimSpace(given), &members) != nil {
		return text
	}
	clean := cleanTools(members["result"])
	if bytes.Equal(clean, members["result"]) {
		return text
	}
	members["result"] = clean
	raw, err := protocol.Marshal(members)
	switch {
	case err != nil:
		return text
	case isEvent:
		return append(append([]byte("data: "), raw...), '\n')
	}
	return raw
}
