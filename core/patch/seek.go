package patch

import (
	"strings"
	"unicode"
)

// none is where nothing was found.
const none = -1

// readings are how lines are compared, the strictest first.
var readings = []func(string) string{
	func(s string) string { return s },
	func(s string) string { return strings.TrimRightFunc(s, isSpace) },
	strings.TrimSpace,
	plain,
}

func isSpace(r rune) bool { return unicode.IsSpace(r) }

// plain is a line with plain dashes, quotes and spaces, and no space around it.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x80:
		case r >= 0x2010 && r <= 0x2015, r == 0x2212:
			return '-'
		case r >= 0x2018 && r <= 0x201B:
			return '\''
		case r >= 0x201C && r <= 0x201F:
			return '"'
		case r == 0xA0, r >= 0x2002 && r <= 0x200A, r == 0x202F, r == 0x205F, r == 0x3000:
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
}

// seek is the first index from start on at which the lines are those wanted; a
// stricter reading of all lines comes before a looser one of the first. At the end
// of the file there is one such index.
func seek(lines []line, wanted []string, start int, atEnd bool) int {
	if len(wanted) == 0 {
		return start
	}
	if atEnd {
		start = max(start, len(lines)-len(wanted))
	}
	for _, reading := range readings {
		read := make([]string, len(wanted))
		for i, w := range wanted {
			read[i] = reading(w)
		}
		for at := start; at+len(wanted) <= len(lines); at++ {
			if matches(lines[at:], read, reading) {
				return at
			}
		}
	}
	return none
}

func matches(lines []line, read []string, reading func(string) string) bool {
	for i, w := range read {
		if reading(lines[i].text) != w {
			return false
		}
	}
	return true
}
