package tool

import (
	"strings"
	"unicode/utf8"
)

// decode converts bytes to valid UTF-8, with U+FFFD for each invalid byte. It returns an incomplete
// rune at the end as rest, unless last is set.
func decode(b []byte, last bool) (text string, rest []byte) {
	end := len(b)
	if !last {
		end -= incomplete(b)
	}
	return valid(b[:end]), b[end:]
}

// incomplete returns the number of bytes at the end that begin a rune.
func incomplete(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		tail := b[len(b)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

func valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var text strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		text.WriteRune(r)
		b = b[n:]
	}
	return text.String()
}
