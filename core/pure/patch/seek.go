package patch

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"appserver/core/pure/charset"
)

// Indices of no line: none matches, or several do where one must.
const (
	none    = -1
	several = -2
)

// reading is a way to compare lines. If it is unique, lines match only if they are at one place.
type reading struct {
	read   func(string) string
	unique bool
}

// readings returns the ways to compare lines, the strictest first. Bytes is set for a text whose encoding is not
// known.
func readings(bytes bool) []reading {
	list := []reading{
		{func(s string) string { return s }, false},
		{func(s string) string { return strings.TrimRightFunc(s, isSpace) }, false},
		{strings.TrimSpace, false},
	}
	if bytes {
		return append(list,
			reading{func(s string) string { return plain(charset.Western(s)) }, true},
			reading{func(s string) string { return plain(charset.Valid(s)) }, true})
	}
	return append(list, reading{plain, false}, reading{func(s string) string { return norm.NFC.String(plain(s)) }, true})
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
func (t text) seek(wanted []string, start int, atEnd bool) int {
	if len(wanted) == 0 {
		return start
	}
	all, unique := t.matches(wanted, start, atEnd, 2)
	switch {
	case len(all) == 0:
		return none
	case unique && len(all) > 1:
		return several
	}
	return all[0]
}

// matches returns the indices, from start, at which the lines match those wanted, at most limit. It uses the
// strictest reading with a match, and reports whether that must be unique.
func (t text) matches(wanted []string, start int, atEnd bool, limit int) (all []int, unique bool) {
	if atEnd {
		start = max(start, len(t.lines)-len(wanted))
	}
	for _, r := range readings(t.IsUnknown()) {
		read := make([]string, len(wanted))
		for i, w := range wanted {
			read[i] = r.read(w)
		}
		if all := indices(t.lines[start:], read, r.read, limit); len(all) > 0 {
			for i := range all {
				all[i] += start
			}
			return all, r.unique
		}
	}
	return nil, false
}

// indices returns the first indices at which the lines, after the reading, match those wanted. It
// uses the algorithm of D. Knuth, J. Morris and V. Pratt, "Fast pattern matching in strings", 1977,
// because files with many equal lines would make a plain search quadratic.
func indices(lines []line, read []string, reading func(string) string, limit int) (all []int) {
	back := borders(read)
	met := 0
	for i, l := range lines {
		text := reading(l.text)
		for met > 0 && (met == len(read) || read[met] != text) {
			met = back[met-1]
		}
		if read[met] == text {
			met++
		}
		if met < len(read) {
			continue
		}
		if all = append(all, i+1-met); len(all) == limit {
			break
		}
	}
	return all
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
