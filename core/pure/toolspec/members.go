package toolspec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"appserver/core/pure/jsonrepair"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// Normalized returns the arguments of a call as the JSON object that the model meant by them, or unchanged if there
// is none.
func Normalized(arguments string) string {
	if protocol.Valid([]byte(arguments)) && arguments[0] == '{' {
		return arguments
	}
	object, found := jsonrepair.Object(arguments)
	if !found || !protocol.Valid([]byte(object)) {
		return arguments
	}
	return object
}

// members are the members of arguments. Their values are taken in any form that is exact: models write integers as
// 1000.0, 1e3 or "1000", booleans and lists as texts. The first wrong value is the error.
type members struct {
	values map[string]json.RawMessage
	path   string // precedes the names in errors
	err    error
}

// readMembers decodes the arguments of a call. No arguments are an empty object.
func readMembers(arguments string) (*members, error) {
	var m members
	if err := protocol.Unmarshal([]byte(cmp.Or(strings.TrimSpace(arguments), "{}")), &m.values); err != nil {
		return nil, decodeError(err)
	}
	return &m, nil
}

// decodeError returns an error of a decoder without Go's types.
func decodeError(err error) error {
	if mismatch := new(json.UnmarshalTypeError); errors.As(err, &mismatch) {
		return errors.New("they must be a JSON object")
	}
	return err
}

// raw returns a value, or nil if it is absent or null.
func (m *members) raw(name string) json.RawMessage {
	if value := m.values[name]; string(value) != "null" {
		return value
	}
	return nil
}

func (m *members) fail(name, want string, got json.RawMessage) {
	if m.err == nil {
		m.err = fmt.Errorf("%s%s must be %s, not %s", m.path, name, want, excerpt.FirstRunes(string(got), 100))
	}
}

// text returns a string, or "".
func (m *members) text(name string) (text string) {
	if value := m.raw(name); value != nil && protocol.Unmarshal(value, &text) != nil {
		m.fail(name, "a string", value)
	}
	return text
}

// id returns an id, or "". It can be a number.
func (m *members) id(name string) string {
	if n, exact := exactInteger(unquoted(m.raw(name))); exact {
		return strconv.FormatInt(n, 10)
	}
	return m.text(name)
}

// integer returns an integer, or nil. One that is too large counts as the largest.
func (m *members) integer(name string) *int64 {
	value := m.raw(name)
	if value == nil || string(value) == `""` {
		return nil
	}
	n, exact := exactInteger(unquoted(value))
	if !exact {
		m.fail(name, "an integer", value)
		return nil
	}
	return &n
}

// boolean returns a boolean, or nil.
func (m *members) boolean(name string) *bool {
	value := m.raw(name)
	if value == nil || string(value) == `""` {
		return nil
	}
	b, exact := exactBoolean(unquoted(value))
	if !exact {
		m.fail(name, "true or false", value)
		return nil
	}
	return &b
}

// list returns the elements of a list, or nil. The list can be a text.
func (m *members) list(name string) (elements []json.RawMessage) {
	value := m.raw(name)
	if value == nil {
		return nil
	}
	elements, ok := listOf(value)
	if !ok {
		m.fail(name, "a list", value)
	}
	return elements
}

// listOf decodes a list, or a text with a list.
func listOf(value json.RawMessage) (elements []json.RawMessage, ok bool) {
	text := strings.TrimSpace(unquoted(value))
	if !strings.HasPrefix(text, "[") {
		return nil, false
	}
	return elements, protocol.Unmarshal([]byte(text), &elements) == nil
}

// texts returns a list of strings, or nil. One string is a list of one.
func (m *members) texts(name string) (texts []string) {
	value := m.raw(name)
	if value == nil {
		return nil
	}
	elements, ok := listOf(value)
	if !ok {
		elements = []json.RawMessage{value}
	}
	for _, element := range elements {
		var text string
		if element[0] != '"' || protocol.Unmarshal(element, &text) != nil {
			m.fail(name, "a list of strings", value)
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

// objects returns a list of objects, or nil.
func (m *members) objects(name string) (objects []*members) {
	for i, element := range m.list(name) {
		inner := members{path: fmt.Sprintf("%s%s[%d].", m.path, name, i)}
		if protocol.Unmarshal([]byte(unquoted(element)), &inner.values) != nil || inner.values == nil {
			m.fail(name, "a list of objects", m.values[name])
			return nil
		}
		objects = append(objects, &inner)
	}
	return objects
}
