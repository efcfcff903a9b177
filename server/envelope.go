package server

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"appserver/protocol"
)

// kind is the JSON-RPC kind of a message from the client.
type kind int

const (
	kindMalformed kind = iota
	kindRequest
	kindNotification
	kindResponse
)

// envelope holds the raw members of a message, or nil for absent ones. They alias the line.
type envelope struct {
	id, method, params, result, errorMember json.RawMessage
	// duplicate is set if a member occurs twice.
	duplicate bool
}

// incoming is a parsed message of the client.
type incoming struct {
	envelope
	kind   kind
	object bool
	// err describes the defect of a malformed message.
	err *protocol.Error
	// batch is the batch of the message. It is nil for a single message, and for a message
	// without a response.
	batch *batch
}

// responseFault returns the defect of a malformed response, or "".
func (m *incoming) responseFault() string {
	switch {
	case m.method != nil:
		return "it has a method"
	case m.duplicate || protocol.RepeatsName(m.result):
		return "a name occurs twice in it"
	case isSet(m.errorMember) && isSet(m.result):
		return "it has both a result and an error"
	case !isSet(m.errorMember) && m.result == nil:
		return "it has neither a result nor an error"
	}
	return ""
}

// unpack parses the messages of a line and appends them to in. A blank line has no messages.
// An empty batch is an error.
func unpack(line []byte, maxBatch int, in []incoming) ([]incoming, *protocol.Error) {
	line = bytes.Trim(line, " \t\r\n")
	switch {
	case len(line) == 0:
		return in, nil
	case !json.Valid(line):
		return in, parseError(line)
	case line[0] == '{':
		return append(in, readMessage(line)), nil
	case line[0] == '[':
		return unpackBatch(line, maxBatch, in)
	}
	return in, protocol.Refuse(
		protocol.KindInvalidRequest,
		"Invalid request: expected an object or an array of objects",
	)
}

func parseError(line []byte) *protocol.Error {
	reason := "not JSON"
	if err := json.Unmarshal(line, new(json.RawMessage)); err != nil {
		reason = err.Error()
	}
	return &protocol.Error{
		Code: protocol.CodeParseError, Message: "Parse error: " + reason,
		Data: &protocol.ErrorData{Kind: protocol.KindParseError},
	}
}

func readMessage(raw json.RawMessage) incoming {
	if raw[0] != '{' {
		return incoming{err: protocol.Refuse(protocol.KindInvalidRequest, "Invalid request: expected an object")}
	}
	m := incoming{envelope: readEnvelope(raw), object: true}
	m.kind, m.err = m.classify()
	return m
}

// readEnvelope returns the members of a message. Of duplicate members it returns the last, as
// encoding/json does. Unknown members, jsonrpc among them, are ignored.
func readEnvelope(object []byte) envelope {
	var e envelope
	for name, value := range protocol.Members(object) {
		if member := e.member(name); member != nil {
			e.duplicate = e.duplicate || *member != nil
			*member = value
		}
	}
	return e
}

// member returns a pointer to the field of a member, or nil if the name is unknown.
func (e *envelope) member(name string) *json.RawMessage {
	switch name {
	case "id":
		return &e.id
	case "method":
		return &e.method
	case "params":
		return &e.params
	case "result":
		return &e.result
	case "error":
		return &e.errorMember
	}
	return nil
}

// classify returns the kind of the message. Some clients always write every member. So a null
// result or error counts as absent beside a method. A null error counts as absent beside a
// result.
func (e envelope) classify() (kind, *protocol.Error) {
	refuse := func(reason string) (kind, *protocol.Error) {
		return kindMalformed, protocol.Refuse(protocol.KindInvalidRequest, "Invalid request: %s", reason)
	}
	switch {
	case e.method == nil && e.result == nil && e.errorMember == nil:
		return refuse("missing field `method`")
	case e.method == nil:
		return kindResponse, nil
	case e.method[0] != '"':
		return refuse("`method` must be a string")
	case isSet(e.result) || isSet(e.errorMember):
		return refuse("`method` together with `result` or `error`")
	case e.id == nil:
		return kindNotification, nil
	case !isValidID(e.id):
		return refuse("`id` must be a string or a number")
	}
	return kindRequest, nil
}

// isSet reports whether a member is present and not null.
func isSet(raw json.RawMessage) bool { return raw != nil && string(raw) != "null" }

// isValidID reports whether a response can repeat the id: it is a number, or a string in valid
// UTF-8.
func isValidID(id json.RawMessage) bool {
	if len(id) == 0 {
		return false
	}
	number := id[0] == '-' || (id[0] >= '0' && id[0] <= '9')
	return number || (id[0] == '"' && utf8.Valid(id))
}

// responseID returns a copy of the id for the response, or null if the id is invalid.
func (e envelope) responseID() json.RawMessage {
	if !isValidID(e.id) {
		return json.RawMessage("null")
	}
	return bytes.Clone(e.id)
}
