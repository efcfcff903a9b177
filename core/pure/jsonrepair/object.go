package jsonrepair

import (
	"encoding/json"
	"strings"

	"appserver/protocol"
)

const (
	// maxEncodings bounds how often an object can be encoded as a string.
	maxEncodings = 3
	// maxReads bounds how often all of a text is decoded in the search for a whole object.
	maxReads = 4
	// maxText bounds the texts that are repaired, in bytes.
	maxText = 1 << 20
)

// Object returns the JSON object that a model meant by a text. found is false if there is none, or if the
// text has several meanings.
//
//   - Of several objects in a row, the last that is not empty counts: servers send the arguments of a call
//     twice, or {} before or after them.
//   - If an object breaks off and begins again, the whole object counts. It must have the member with which
//     the first one begins. So an inner object of arguments that broke off is not taken for the arguments.
//   - An object in a string is decoded. Text before the first and after the last brace is dropped, such as a
//     code fence.
//   - Raw control characters in strings are escaped, and commas before closing brackets are dropped.
//
// Of a text of more than 1 MiB, only an object as it is counts.
func Object(text string) (object string, found bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxText {
		return text, text[0] == '{' && json.Valid([]byte(text))
	}
	for range maxEncodings {
		inner, quoted := unquote(text)
		if !quoted {
			break
		}
		text = strings.TrimSpace(inner)
	}
	start, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if start < 0 || end < start {
		return "", false
	}
	broken := strings.Contains(text[end:], "{") // an object begins after the last one that ends
	text = text[start : end+1]
	object, found = lastObject(text)
	if !found {
		object, found = lastObject(string(withoutLastCommas(Escape([]byte(text)))))
	}
	return object, found && !(broken && isEmpty(object))
}

// unquote decodes a text that is one JSON string.
func unquote(text string) (inner string, quoted bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", false
	}
	return inner, protocol.Unmarshal([]byte(text), &inner) == nil
}

// lastObject finds the last whole object of a text that begins with a brace and ends with one.
func lastObject(text string) (object string, found bool) {
	object, rest := objectsInARow(text)
	if rest == "" {
		return object, object != ""
	}
	if again, found := objectAtEnd(rest, firstMember(text)); found {
		return again, true
	}
	return object, object != "" && !isEmpty(object)
}

// objectsInARow returns the last of the objects with which a text begins, and the text after them. An empty
// object counts only if all of them are empty.
func objectsInARow(text string) (last, rest string) {
	for rest = text; strings.HasPrefix(rest, "{"); {
		end := objectEnd(rest)
		if end == 0 || !json.Valid([]byte(rest[:end])) {
			break
		}
		if last == "" || !isEmpty(rest[:end]) {
			last = rest[:end]
		}
		rest = strings.TrimSpace(rest[end:])
	}
	return last, rest
}

// objectEnd returns the length of the object with which a text begins, or 0 if it has no end.
func objectEnd(text string) int {
	var braces Braces
	for i := range len(text) {
		if braces.add(text[i]); braces.Closed() {
			return i + 1
		}
	}
	return 0
}

func isEmpty(object string) bool { return strings.TrimSpace(object[1:len(object)-1]) == "" }

// objectAtEnd finds the last object that reaches to the end of a text and has a member.
func objectAtEnd(text string, has member) (object string, found bool) {
	left := maxReads * len(text)
	for at := strings.LastIndexByte(text, '{'); at >= 0 && left > 0; at = strings.LastIndexByte(text[:at], '{') {
		candidate := text[at:]
		end := objectEnd(candidate)
		if left -= end; end == 0 {
			left -= len(candidate)
		}
		if end == len(candidate) && !isEmpty(candidate) && has.isIn(candidate) {
			return candidate, true
		}
	}
	return "", false
}

// member is the first member of an object that may break off within its name.
type member struct {
	name  string
	whole bool
}

// maxName bounds the compared part of a name, in bytes.
const maxName = 200

// firstMember returns the member with which an object begins. Its name is "" if the object breaks off before it.
func firstMember(object string) member {
	name, ok := strings.CutPrefix(strings.TrimLeft(object[1:], " \t\r\n"), `"`)
	if !ok {
		return member{}
	}
	name = name[:min(len(name), maxName)]
	end := strings.IndexAny(name, `"{`)
	if end < 0 {
		return member{name: name}
	}
	return member{name: name[:end], whole: name[end] == '"'}
}

// isIn reports whether a text is an object with the member.
func (m member) isIn(object string) bool {
	var members map[string]json.RawMessage
	if protocol.Unmarshal([]byte(object), &members) != nil {
		return false
	}
	for name := range members {
		if m.whole && name == m.name || !m.whole && strings.HasPrefix(name, m.name) {
			return true
		}
	}
	return false
}
