package token

import "strings"

// pattern splits text into matches. Models split by a regular expression; these are its alternatives, one a line,
// tried from the top:
//
//	o200k_base
//	1  [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	2  [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	3  \p{N}{1,3}
//	4   ?[^\s\p{L}\p{N}]+[\r\n/]*
//	5  \s*[\r\n]+
//	6  \s+(?!\S)
//	7  \s+
//
//	cl100k_base
//	1  (?i:'s|'t|'re|'ve|'m|'ll|'d)
//	2  [^\r\n\p{L}\p{N}]?\p{L}+
//	3  \p{N}{1,3}
//	4   ?[^\s\p{L}\p{N}]+[\r\n]*
//	5  \s*[\r\n]+
//	6  \s+(?!\S)
//	7  \s+
//
// Every character is in a match, and the time for all matches of a text is linear in its length.
type pattern struct {
	classes *classTable
	word    func(classes *classTable, text string) int // the length of the match of 1 or 2, or 0
	tail    string                                     // the characters that 4 takes after signs
}

func o200kPattern() *pattern { return &pattern{newClassTable(), o200kWord, "\r\n/"} }

func cl100kPattern() *pattern { return &pattern{newClassTable(), cl100kWord, "\r\n"} }

// match returns the length of the match at the start of a text, which is not empty.
func (p *pattern) match(text string) int {
	if n := p.word(p.classes, text); n > 0 {
		return n
	}
	if n := p.digits(text); n > 0 {
		return n
	}
	if n := p.signs(text); n > 0 {
		return n
	}
	return p.spaces(text)
}

// o200kWord relies on each letter and mark being in one of the classes of 1, or in both. So 2 matches only if 1 found
// no end, and then it ends after the capitals.
func o200kWord(classes *classTable, text string) int {
	c, size := classes.at(text, 0)
	start := 0
	switch {
	case leads.has(c):
		start = size
	case !letters.has(c):
		return 0
	}
	end, capitals := wordEnds(classes, text, start)
	if end == 0 && c == mark { // 1 without a leading character comes before 2 with one
		start = 0
		end, _ = wordEnds(classes, text, start)
	}
	if end == 0 {
		end = capitals
	}
	if end == start {
		return 0
	}
	return end + contraction(text[end:])
}

// wordEnds returns the end of the letters of 1 that begin at start, or 0, and the end of the first class of 1 and 2.
func wordEnds(classes *classTable, text string, start int) (end, capitals int) {
	i, c, size := start, upper, 0
	for i < len(text) {
		if c, size = classes.at(text, i); !capitalClasses.has(c) {
			break
		}
		if i += size; c != upper {
			end = i
		}
	}
	if i < len(text) && c == lower {
		return classes.skip(text, i, smallClasses), i
	}
	return end, i
}

func cl100kWord(classes *classTable, text string) int {
	if n := contraction(text); n > 0 {
		return n
	}
	c, size := classes.at(text, 0)
	start := 0
	if leads.has(c) {
		start = size
	}
	if end := classes.skip(text, start, letters); end > start {
		return end
	}
	return 0
}

// contraction returns the length of 's, 't, 're, 've, 'm, 'll or 'd at the start of a text, or 0.
func contraction(text string) int {
	const toLower = 'a' - 'A'
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] | toLower {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(text) < 3 {
		return 0
	}
	switch string([]byte{text[1] | toLower, text[2] | toLower}) {
	case "re", "ve", "ll":
		return 3
	}
	return 0
}

func (p *pattern) digits(text string) (end int) {
	for range 3 {
		if end == len(text) {
			break
		}
		c, size := p.classes.at(text, end)
		if c != digit {
			break
		}
		end += size
	}
	return end
}

func (p *pattern) signs(text string) int {
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	end := p.classes.skip(text, start, setOf(mark, sign))
	if end == start {
		return 0
	}
	for end < len(text) && strings.IndexByte(p.tail, text[end]) >= 0 {
		end++
	}
	return end
}

// spaces matches 5, 6 and 7. 5 ends after the last CR or LF. 6 leaves the last character to what follows.
func (p *pattern) spaces(text string) int {
	end, last, lines := 0, 0, 0
	for end < len(text) {
		c, size := p.classes.at(text, end)
		if c != blank && c != newline {
			break
		}
		last = end
		if end += size; c == newline {
			lines = end
		}
	}
	switch {
	case lines > 0:
		return lines
	case end < len(text) && last > 0:
		return last
	default:
		return end
	}
}
