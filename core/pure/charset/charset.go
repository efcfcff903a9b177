// Package charset reads and writes the encodings of text files: UTF-8, UTF-16 with a byte order mark, and bytes of an
// unknown encoding that contains ASCII, such as Latin-1.
package charset

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// BOM is the byte order mark.
const BOM = "\uFEFF"

// Encoding is the encoding of a file. The zero value is UTF-8.
type Encoding struct {
	// order is the byte order of UTF-16 with a byte order mark, or nil.
	order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}
	unknown bool
}

// IsUTF16 reports whether the file is UTF-16.
func (e Encoding) IsUTF16() bool { return e.order != nil }

// IsUnknown reports whether the text is not UTF-8, and its encoding is not known. A byte below 0x80 is ASCII.
func (e Encoding) IsUnknown() bool { return e.unknown }

// Decode returns the text of a file, with its byte order mark. The reason is empty, or why the file is no text.
func Decode(content string) (text string, e Encoding, reason string) {
	switch {
	case strings.HasPrefix(content, "\xff\xfe\x00\x00") || strings.HasPrefix(content, "\x00\x00\xfe\xff"):
		return "", e, "the file is UTF-32 text; use a command to change it"
	case strings.HasPrefix(content, "\xff\xfe"):
		e.order = binary.LittleEndian
	case strings.HasPrefix(content, "\xfe\xff"):
		e.order = binary.BigEndian
	case isUnmarkedUTF16(content):
		return "", e, "the file seems to be UTF-16 text without a byte order mark; use a command to change it"
	case utf8.ValidString(content):
		return content, e, ""
	case strings.Contains(content, "\x00"):
		return "", e, "the file is not text; use a command to change it"
	default:
		e.unknown = true
		return content, e, ""
	}
	text = e.decodeUTF16(content)
	if e.Encode(text) != content {
		return "", e, "the file is not valid UTF-16 text; use a command to change it"
	}
	return text, e, ""
}

// isUnmarkedUTF16 reports whether every second byte of most characters is 0, as in UTF-16 text of a Latin script.
func isUnmarkedUTF16(content string) bool {
	if len(content) == 0 || len(content)%2 != 0 {
		return false
	}
	zero := [2]int{}
	for i := range len(content) {
		if content[i] == 0 {
			zero[i%2]++
		}
	}
	return min(zero[0], zero[1]) == 0 && max(zero[0], zero[1]) >= max(len(content)/4, 1)
}

func (e Encoding) decodeUTF16(content string) string {
	b, units := []byte(content), make([]uint16, 0, len(content)/2)
	for ; len(b) > 1; b = b[2:] {
		units = append(units, e.order.Uint16(b))
	}
	return string(utf16.Decode(units))
}

// Encode returns the content of a file with a text.
func (e Encoding) Encode(text string) string {
	if e.order == nil {
		return text
	}
	var b []byte
	for _, r := range text {
		for _, unit := range utf16.AppendRune(nil, r) {
			b = e.order.AppendUint16(b, unit)
		}
	}
	return string(b)
}

// Text returns the text of a file for reading, as valid UTF-8 without a byte order mark. The problem is empty, or
// what the text lacks. The content may end within a character.
func Text(content string) (text, problem string) {
	_, e, reason := Decode(content)
	switch {
	case e.order != nil:
		content = e.decodeUTF16(content)
		if reason != "" {
			problem = "it is not valid UTF-16, so characters are replaced"
		}
	case strings.Contains(content, "\x00"):
		return "", "it is not text in UTF-8 or in UTF-16 with a byte order mark"
	case e.unknown:
		problem = "it is not UTF-8, so characters are replaced"
	}
	return Valid(strings.TrimPrefix(content, BOM)), problem
}

// Valid replaces each invalid byte by U+FFFD.
func Valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// windows1252 returns the characters that bytes 0x80 to 0x9F have in Windows-1252, or 0.
const windows1252 = "€\x00‚ƒ„…†‡ˆ‰Š‹Œ\x00Ž\x00\x00‘’“”•–—˜™š›œ\x00žŸ"

// Western reads bytes that are not UTF-8 as Windows-1252, which contains the characters of Latin-1.
func Western(line string) string {
	if utf8.ValidString(line) {
		return line
	}
	var b strings.Builder
	high := []rune(windows1252)
	for i := range len(line) {
		r := rune(line[i])
		if r >= 0x80 && r < 0xA0 && high[r-0x80] != 0 {
			r = high[r-0x80]
		}
		b.WriteRune(r)
	}
	return b.String()
}
