package mcp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"appserver/platform/excerpt"
	"appserver/protocol"
)

// refusedSession is the error of a request whose session the service does not know.
type refusedSession struct {
	status int
	text   string // the body of the response, shortened
}

func (e *refusedSession) Error() string {
	return fmt.Sprintf("status %d %s: %s", e.status, http.StatusText(e.status), e.text)
}

const (
	// sessionHeader has the id of the session in requests.
	sessionHeader = "Mcp-Session-Id"
	// maxRefusal bounds the read part of a response with an error status, and maxRefusalText its part in errors, in
	// bytes.
	maxRefusal, maxRefusalText = 64 << 10, 200
	// methodNotFound is the code of JSON-RPC for an unknown method. Services may send it with status 404.
	methodNotFound = -32601
)

// refusalOf returns an error if the response refuses the session of the request, or without one the version of the
// protocol. The specification demands status 404.
// Servers also use other ones, so the text of the response decides then. A response that asks for a login is none.
// The body can still be read if the result is nil.
func refusalOf(request *http.Request, response *http.Response) error {
	status := response.StatusCode
	if request.Method != http.MethodPost || status < 400 || status >= 500 ||
		response.Header.Get("WWW-Authenticate") != "" {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal)) // as much as can be read
	gone := status == http.StatusNotFound || status == http.StatusGone
	if request.Header.Get(sessionHeader) == "" {
		if status == http.StatusBadRequest && mentionsVersion(string(body)) {
			_ = response.Body.Close()
			return &refusedVersion{cleanLine(string(body), maxRefusalText)}
		}
	} else if gone && !isMethodNotFound(body) || !gone && mentionsSession(string(body)) {
		_ = response.Body.Close()
		return &refusedSession{status, cleanLine(string(body), maxRefusalText)}
	}
	response.Body = &prefixedBody{response.Body, io.MultiReader(bytes.NewReader(body), response.Body)}
	return nil
}

// prefixedBody is a body whose beginning was read already.
type prefixedBody struct {
	io.Closer
	io.Reader
}

func isMethodNotFound(body []byte) bool {
	var message struct {
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	return protocol.Unmarshal(body, &message) == nil && message.Error.Code == methodNotFound
}

// mentionsSession reports whether a text can be about a session that the server does not know.
func mentionsSession(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "session") || strings.Contains(text, "initializ") || strings.Contains(text, "initialis")
}

// mayRefuseSession reports whether an error response can refuse the session. Servers do not agree on the code. A tool
// can fail with the same words, so the server must be asked.
func mayRefuseSession(e *jsonrpc.Error) bool {
	switch e.Code {
	case -32600, -32602, -32000, -32001, -32002:
		return true
	}
	return mentionsSession(e.Message)
}

// cleanLine returns a text of a server as one line without control characters, of at most limit bytes.
func cleanLine(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return excerpt.Prefix(strings.Join(strings.Fields(text), " "), limit)
}

// refusedVersion is the error of a request whose version of the protocol a service refuses by a status.
type refusedVersion struct{ text string }

func (e *refusedVersion) Error() string { return "the service refused the request: " + e.text }

// mentionsVersion reports whether a text can be about the version of the protocol.
func mentionsVersion(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "protocol") && strings.Contains(text, "version")
}
