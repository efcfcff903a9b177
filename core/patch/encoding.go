package patch

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// bom is the byte order mark.
const bom = "\uFEFF"

// encoding is the encoding of a file.
type encoding struct {
	// order is the byte order of UTF-16 with a byte order mark, or nil.
	order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}
	// bytes is set for a text that is not UTF-8 and whose encoding is not known. It may contain any character set in
	// which a byte below 0x80 is ASCII.
	bytes bool
}

// decodeText returns the text of a file, with its byte order mark. The reason is empty, or why the file is no text.
func decodeText(content string) (text string, e encoding, reason string) {
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
		e.bytes = true
		return content, e, ""
	}
	text = e.decodeUTF16(content)
	if e.encode(text) != content {
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

func (e encoding) decodeUTF16(content string) string {
	b, units := []byte(content), make([]uint16, 0, len(content)/2)
	for ; len(b) > 1; b = b[2:] {
		units = append(units, e.order.Uint16(b))
	}
	return string(utf16.Decode(units))
}

// encode returns the content of a file with a text.
func (e encoding) encode(text string) string {
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

// allows reports whether the bytes of an added line are certain.
func (e encoding) allows(line string) bool {
	return !e.bytes || !slices.ContainsFunc([]byte(line), func(b byte) bool { return b >= utf8.RuneSelf })
}

// shown returns the content of a file as valid UTF-8.
func shown(content string) string {
	text, e, reason := decodeText(content)
	switch {
	case reason != "" || e.bytes:
		return validText(content)
	case e.order != nil:
		return strings.TrimPrefix(text, bom)
	}
	return text
}

// validText replaces each invalid byte by U+FFFD.
func validText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// shownDiff returns the unified diff of two contents as valid UTF-8. The encoding of a file does not count, unless
// the two encodings differ.
func shownDiff(before, after string) string {
	a, from, reason := decodeText(before)
	b, to, other := decodeText(after)
	if reason == "" && other == "" && from == to && from.order != nil {
		before, after = strings.TrimPrefix(a, bom), strings.TrimPrefix(b, bom)
	}
	return validText(Diff(before, after))
}

// windows1252 returns the characters that bytes 0x80 to 0x9F have in Windows-1252, or 0.
const windows1252 = "€\x00‚ƒ„…†‡ˆ‰Š‹Œ\x00Ž\x00\x00‘’“”•–—˜™š›œ\x00žŸ"

// western reads bytes that are not UTF-8 as Windows-1252, which contains the characters of Latin-1.
func western(line string) string {
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
