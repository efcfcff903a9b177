package patch

import (
	"strings"
	"unicode"
)

// none is the index of no line.
const none = -1

// readings are the ways to compare lines, the strictest first.
var readings = []func(string) string{
	func(s string) string { return s },
	func(s string) string { return strings.TrimRightFunc(s, isSpace) },
	strings.TrimSpace,
	plain,
}

func isSpace(r rune) bool { return unicode.IsSpace(r) }

// plain replaces typographic dashes, quotes and spaces by ASCII, and removes surrounding space.
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

// seek returns the first index, from start, at which the lines match those wanted, or none. It
// tries a strict reading at all indices before a less strict one. At the end of the file, there is
// one possible index.
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
		if at := firstAt(lines[start:], read, reading); at != none {
			return start + at
		}
	}
	return none
}

// firstAt returns the first index at which the lines, after the reading, match those wanted. It
// uses the algorithm of D. Knuth, J. Morris and V. Pratt, "Fast pattern matching in strings", 1977,
// because files with many equal lines would make a plain search quadratic.
func firstAt(lines []line, read []string, reading func(string) string) int {
	back := borders(read)
	met := 0
	for i, l := range lines {
		text := reading(l.text)
		for met > 0 && read[met] != text {
			met = back[met-1]
		}
		if read[met] == text {
			met++
		}
		if met == len(read) {
			return i + 1 - met
		}
	}
	return none
}

// borders returns, for each prefix of a list, the length of its longest proper prefix that is also
// its suffix.
func borders(read []string) []int {
	back := make([]int, len(read))
	met := 0
	for i := 1; i < len(read); i++ {
		for met > 0 && read[met] != read[i] {
			met = back[met-1]
		}
		if read[met] == read[i] {
			met++
		}
		back[i] = met
	}
	return back
}
