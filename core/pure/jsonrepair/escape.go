package jsonrepair

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Escape returns a JSON text with the control characters in its strings escaped. Some servers and models
// write raw line breaks there. It returns valid JSON unchanged.
func Escape(text []byte) []byte {
	if !slices.ContainsFunc(text, func(b byte) bool { return b < ' ' }) || json.Valid(text) {
		return text
	}
	var out []byte
	var at quotes
	for _, b := range text {
		if at.next(b) && b < ' ' {
			out = fmt.Appendf(out, `\u%04x`, b)
			continue
		}
		out = append(out, b)
	}
	return out
}

// quotes follows a JSON text and knows whether it is within a string.
type quotes struct{ inside, escaped bool }

// next reads a byte and reports whether it is text of a string, and not the character after a backslash.
func (q *quotes) next(b byte) bool {
	switch {
	case q.escaped:
		q.escaped = false
		return false
	case b == '"':
		q.inside = !q.inside
		return false
	case b == '\\':
		q.escaped = q.inside
	}
	return q.inside
}

// withoutLastCommas returns a text without the commas before closing brackets.
func withoutLastCommas(text []byte) []byte {
	out := make([]byte, 0, len(text))
	var at quotes
	comma := -1 // the place of a comma in out that only blanks follow
	for _, b := range text {
		inside := at.inside
		at.next(b)
		if !inside {
			switch b {
			case ',':
				comma = len(out)
			case '}', ']':
				if comma >= 0 {
					out = append(out[:comma], out[comma+1:]...)
				}
				comma = -1
			case ' ', '\t', '\n', '\r':
			default:
				comma = -1
			}
		}
		out = append(out, b)
	}
	return out
}
