package protocol

import (
	"bytes"
	"unicode/utf8"
)

// escapeSize is the length of an escape like \ud800.
const escapeSize = 6

// ToWellFormed returns JSON in which U+FFFD replaces each run of bytes that are not UTF-8, and each
// escape of half a surrogate pair. It returns text itself if there are none.
//
// encoding/json copies raw JSON without validating its strings, and many parsers fail on such strings.
func ToWellFormed(text []byte) []byte {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	copied := false
	for i := nextEscape(text, 0); i >= 0; {
		first, second := escapedUnit(text[i:]), escapedUnit(text[min(i+escapeSize, len(text)):])
		switch {
		case !isSurrogate(first):
			i = nextEscape(text, i+2)
			continue
		case first < 0xDC00 && second >= 0xDC00 && isSurrogate(second):
			i = nextEscape(text, i+2*escapeSize)
			continue
		case !copied:
			text, copied = bytes.Clone(text), true
		}
		copy(text[i:], `\ufffd`)
		i = nextEscape(text, i+escapeSize)
	}
	return text
}

// nextEscape returns the index of the first escape \u at or after from, or -1.
func nextEscape(text []byte, from int) int {
	for {
		i := bytes.Index(text[min(from, len(text)):], []byte(`\u`))
		if i < 0 {
			return -1
		}
		i += from
		backslashes := 0
		for i > backslashes && text[i-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i
		}
		from = i + 2
	}
}

// escapedUnit returns the UTF-16 code unit of the escape that text begins with, or 0.
func escapedUnit(text []byte) (unit rune) {
	if len(text) < escapeSize || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	for _, c := range text[2:escapeSize] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0
		}
		unit = unit<<4 | rune(c)
	}
	return unit
}

func isSurrogate(unit rune) bool { return unit >= 0xD800 && unit < 0xE000 }
