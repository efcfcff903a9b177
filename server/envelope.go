package server

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"appserver/protocol"
)

// kind is what a message of the client is.
type kind int

const (
	kindMalformed kind = iota
	kindRequest
	kindNotification
	kindResponse
)

// envelope holds the raw members of a message of the client, nil where absent.
// They alias the line.
type envelope struct {
	id, method, params, result, errorMember json.RawMessage
	// repeats is set if one of the names occurs twice.
	duplicate bool
}

// incoming is a message of the client.
type incoming struct {
	envelope
	kind   kind
	object bool
	// err says what is wrong with a malformed message.
	err *protocol.Error
	// batch is the batch that the message came in; nil where it came alone, or
	// where nothing in the batch is to be answered.
	batch *batch
}

// unpack reads the messages of a line and appends them to in. A line that holds
// none is an error; a blank line is nothing.
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
	return in, protocol.Refuse(protocol.KindInvalidRequest, "Invalid request: expected an object or an array of objects")
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

// readEnvelope takes the last of several members of one name, as encoding/json
// does. Members that it does not know, jsonrpc among them, are not looked at.
func readEnvelope(object []byte) envelope {
	var e envelope
	for name, value := range objectMembers(object) {
		if member := e.member(name); member != nil {
			e.duplicate = e.duplicate || *member != nil
			*member = value
		}
	}
	return e
}

// member returns the place of a member, or nil for a name that is not known.
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

// classify tells what the message is. A result or an error that is null counts as
// absent beside a method, and so does an error beside a result: some clients write
// every member always.
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

// present tells whether a member is there and not null.
func isSet(raw json.RawMessage) bool { return raw != nil && string(raw) != "null" }

// readableID tells whether an id can be echoed as it came.
func isValidID(id json.RawMessage) bool {
	if len(id) == 0 {
		return false
	}
	number := id[0] == '-' || (id[0] >= '0' && id[0] <= '9')
	return number || (id[0] == '"' && utf8.Valid(id))
}

// echo is a copy of the id as the client wrote it, null where it cannot be read.
func (e envelope) responseID() json.RawMessage {
	if !isValidID(e.id) {
		return json.RawMessage("null")
	}
	return bytes.Clone(e.id)
}
