package view

import (
	"bytes"
	"strings"
)

// literal is a quick test that a text does not contain a query, without regard to case. It searches for one part of the
// query: the longest part in ASCII without characters that JSON escapes.
type literal struct {
	// part is in lower case. If it is empty, every text may contain the query.
	part string
	// rare is the index in part of a character that few texts have.
	rare int
	// others are the characters beyond ASCII that equal a letter of part without regard to case, such as the Kelvin sign.
	others []string
}

// rareLast has the space and the letters in the order of their frequency in English, the rarest last. Other characters
// are frequent in code.
const rareLast = " etaoinsrhldcumfpgwybvkxjqz"

// equalLetters are the characters beyond ASCII that the searches of this package fold to a letter of ASCII.
var equalLetters = map[byte][]string{'i': {"İ"}, 'k': {"\u212a"}, 's': {"ſ", "ß", "ẞ"}}

// newLiteral returns the test for a query.
func newLiteral(text string) (l literal) {
	isPlain := func(r rune) bool { return r >= ' ' && r < 0x7f && r != '"' && r != '\\' && r != '/' }
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return !isPlain(r) }) {
		if len(part) > len(l.part) {
			l.part = strings.ToLower(part)
		}
	}
	for i := range len(l.part) {
		if strings.IndexByte(rareLast, l.part[i]) > strings.IndexByte(rareLast, l.part[l.rare]) {
			l.rare = i
		}
	}
	for letter, equal := range equalLetters {
		if strings.IndexByte(l.part, letter) >= 0 {
			l.others = append(l.others, equal...)
		}
	}
	return l
}

// mayBeInJSON reports whether a string of a JSON text may contain the query.
func (l *literal) mayBeInJSON(raw []byte) bool { return l.mayBeIn(raw) || hasEscapes(raw) }

// mayBeIn reports whether a text may contain the query.
func (l *literal) mayBeIn(text []byte) bool {
	if l.part == "" || l.has(text) {
		return true
	}
	for _, other := range l.others {
		if bytes.Contains(text, []byte(other)) {
			return true
		}
	}
	return false
}

// has reports whether a text contains the part, in any case.
func (l *literal) has(text []byte) bool {
	lower := l.part[l.rare]
	upper := lower
	if 'a' <= lower && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	nextLower, nextUpper := indexFrom(text, 0, lower), indexFrom(text, 0, upper)
	for {
		at := min(nextLower, nextUpper)
		begin := at - l.rare
		switch end := begin + len(l.part); {
		case end > len(text):
			return false
		case begin >= 0 && equalFold(text[begin:end], l.part):
			return true
		}
		if at == nextLower {
			nextLower = indexFrom(text, at+1, lower)
		}
		if at == nextUpper {
			nextUpper = indexFrom(text, at+1, upper)
		}
	}
}

// indexFrom returns the index of a character from an index on, or the length of the text.
func indexFrom(text []byte, from int, char byte) int {
	if i := bytes.IndexByte(text[from:], char); i >= 0 {
		return from + i
	}
	return len(text)
}

// equalFold reports whether a text equals another one in lower case, as long, of ASCII.
func equalFold(text []byte, lower string) bool {
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// hasEscapes reports whether a JSON text may escape characters that the part can have. Escapes of control characters do
// not count. They are frequent in the output of commands.
func hasEscapes(raw []byte) bool {
	for {
		at := bytes.Index(raw, []byte(`\u`))
		if at < 0 {
			return false
		}
		raw = raw[at+len(`\u`):]
		if len(raw) < 3 || raw[0] != '0' || raw[1] != '0' || raw[2] != '0' && raw[2] != '1' {
			return true
		}
	}
}
