package line

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// The scanner validates JSON as encoding/json does, and finds the members of an object. It
// does both in one pass and reads strings eight bytes at a time. Reading a rollout is several
// times as fast as with a validator of a library and a second pass.
//
// Each function takes the start index of an element and returns the index after it, or
// malformed.
const (
	malformed = -1

	// maxDepth is the maximum nesting depth, as in encoding/json.
	maxDepth = 10_000
)

// isJSON reports whether b is one JSON value.
func isJSON(b []byte) bool {
	end := scanValue(b, skipSpace(b, 0), 0)
	return end != malformed && skipSpace(b, end) == len(b)
}

func scanValue(b []byte, i, depth int) int {
	switch c := at(b, i); {
	case c == '"':
		return scanString(b, i)
	case c == '{':
		return scanObject(b, i, depth, nil)
	case c == '[':
		return scanArray(b, i, depth)
	case c == 't':
		return scanWord(b, i, "true")
	case c == 'f':
		return scanWord(b, i, "false")
	case c == 'n':
		return scanWord(b, i, "null")
	}
	return scanNumber(b, i)
}

// scanObject calls member with the bytes of each name and value. member may be nil.
func scanObject(b []byte, i, depth int, member func(name, value []byte)) int {
	if at(b, i) != '{' || depth >= maxDepth {
		return malformed
	}
	if i = skipSpace(b, i+1); at(b, i) == '}' {
		return i + 1
	}
	for {
		nameEnd := scanString(b, i)
		colon := skipSpace(b, nameEnd)
		if nameEnd == malformed || at(b, colon) != ':' {
			return malformed
		}
		value := skipSpace(b, colon+1)
		end := scanValue(b, value, depth+1)
		if end == malformed {
			return malformed
		}
		if member != nil {
			member(b[i:nameEnd], b[value:end:end])
		}
		i = skipSpace(b, end)
		switch at(b, i) {
		case '}':
			return i + 1
		case ',':
			i = skipSpace(b, i+1)
		default:
			return malformed
		}
	}
}

func scanArray(b []byte, i, depth int) int {
	if depth >= maxDepth {
		return malformed
	}
	if i = skipSpace(b, i+1); at(b, i) == ']' {
		return i + 1
	}
	for {
		if i = scanValue(b, i, depth+1); i == malformed {
			return malformed
		}
		i = skipSpace(b, i)
		switch at(b, i) {
		case ']':
			return i + 1
		case ',':
			i = skipSpace(b, i+1)
		default:
			return malformed
		}
	}
}

func scanString(b []byte, i int) int {
	if at(b, i) != '"' {
		return malformed
	}
	for i = skipPlain(b, i+1); ; i = skipPlain(b, i) {
		switch at(b, i) {
		case '"':
			return i + 1
		case '\\':
			if i = scanEscape(b, i); i == malformed {
				return malformed
			}
		default:
			return malformed
		}
	}
}

// skipPlain returns the index of the next quote, backslash or control character.
func skipPlain(b []byte, i int) int {
	const (
		ones = 0x0101010101010101
		tops = 0x8080808080808080
	)
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^ones*'"', x^ones*'\\'
		// The lowest top bit that is set marks the first byte below 0x20 or equal to one of
		// the two. Borrows only set higher bits.
		if hit := ((x-ones*0x20)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

func scanEscape(b []byte, i int) int {
	switch at(b, i+1) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		for k := i + 2; k < i+6; k++ {
			if !isHex(at(b, k)) {
				return malformed
			}
		}
		return i + 6
	}
	return malformed
}

func scanNumber(b []byte, i int) int {
	if at(b, i) == '-' {
		i++
	}
	if at(b, i) == '0' {
		i++
	} else if i = scanDigits(b, i); i == malformed {
		return malformed
	}
	if at(b, i) == '.' {
		if i = scanDigits(b, i+1); i == malformed {
			return malformed
		}
	}
	if at(b, i)|0x20 == 'e' {
		i++
		if c := at(b, i); c == '+' || c == '-' {
			i++
		}
		return scanDigits(b, i)
	}
	return i
}

// scanDigits requires at least one digit.
func scanDigits(b []byte, i int) int {
	start := i
	for isDigit(at(b, i)) {
		i++
	}
	if i == start {
		return malformed
	}
	return i
}

func scanWord(b []byte, i int, word string) int {
	if end := i + len(word); end <= len(b) && string(b[i:end]) == word {
		return end
	}
	return malformed
}

func skipSpace(b []byte, i int) int {
	for {
		switch at(b, i) {
		case ' ', '\t', '\r', '\n':
			i++
		default:
			return i
		}
	}
}

// Trim removes the white space around a line and returns the length of the leading part. A
// rewritten file has megabytes of spaces, so it skips eight at a time first.
func Trim(line []byte) (trimmed []byte, left int) {
	const spaces = 0x2020202020202020
	line = bytes.TrimRight(line, "\r\n")
	for n := len(line) - 8; n >= 0 && binary.LittleEndian.Uint64(line[n:]) == spaces; n -= 8 {
		line = line[:n]
	}
	line = bytes.TrimRight(line, " \t\r\n")
	trimmed = line
	for len(trimmed) >= 8 && binary.LittleEndian.Uint64(trimmed) == spaces {
		trimmed = trimmed[8:]
	}
	trimmed = bytes.TrimLeft(trimmed, " \t\r\n")
	return trimmed, len(line) - len(trimmed)
}

// at returns the byte at i, or 0 outside of b. No JSON token begins, continues or ends with 0.
func at(b []byte, i int) byte {
	if uint(i) < uint(len(b)) {
		return b[i]
	}
	return 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
