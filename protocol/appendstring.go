package protocol

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// AppendString appends s as a JSON string, byte for byte as Marshal does:
// invalid UTF-8 becomes U+FFFD, and U+2028 and U+2029 are escaped.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		if i += plainLength(s[i:]); i == len(s) {
			break
		}
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				b = appendEscape(append(b, s[start:i]...), c)
				start = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if escape := escapeOf(r, size); escape != "" {
			b = append(append(b, s[start:i]...), escape...)
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

// plainLength returns the length of a begin of s that needs no escape. It reads eight bytes at a time, and stops
// before the last seven.
func plainLength(s string) (n int) {
	const (
		ones = 0x0101010101010101
		tops = 0x8080808080808080
	)
	text := unsafe.Slice(unsafe.StringData(s), len(s))
	for ; n+8 <= len(text); n += 8 {
		x := binary.LittleEndian.Uint64(text[n:])
		quote, slash := x^ones*'"', x^ones*'\\'
		// The lowest top bit that is set marks the first byte below 0x20, above 0x7f or equal to one of the two.
		// Borrows only set higher bits.
		if hit := ((x-ones*0x20)&^x | (quote-ones)&^quote | (slash-ones)&^slash | x) & tops; hit != 0 {
			return n + bits.TrailingZeros64(hit)/8
		}
	}
	return n
}

func escapeOf(r rune, size int) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return `\ufffd`
	case r == '\u2028':
		return `\u2028`
	case r == '\u2029':
		return `\u2029`
	}
	return ""
}

func appendEscape(b []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
