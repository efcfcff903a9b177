package token

import (
	_ "embed"
	"sync"
	"unicode/utf8"
)

// The tokens, as the library has them: see [newTable].
var (
	//go:embed o200k_base.tokens
	o200kTokens string
	//go:embed cl100k_base.tokens
	cl100kTokens string
)

// maxPart is the longest text whose bytes are merged at once. A merge takes 40 to 130 bytes of memory for each, and
// n log n time.
const maxPart = 16 << 10

// encoding counts by one vocabulary and split pattern.
type encoding struct {
	pattern *pattern
	ready   func() *vocabulary // loads it at the first call
}

func newEncoding(tokens string, p *pattern) *encoding {
	return &encoding{p, sync.OnceValue(func() *vocabulary {
		return &vocabulary{newTable(tokens), newCounts()}
	})}
}

func (e *encoding) count(text string) (tokens int) {
	if text == "" {
		return 0
	}
	words := e.ready()
	for len(text) > 0 {
		end := e.pattern.match(text)
		tokens += words.count(text[:end])
		text = text[end:]
	}
	return tokens
}

// vocabulary counts matches of the pattern.
type vocabulary struct {
	table *table
	known *counts
}

// count relies on each byte of ASCII being a token.
func (v *vocabulary) count(match string) int {
	switch {
	case len(match) == 1 && match[0] < utf8.RuneSelf:
		return 1
	case len(match) > maxKey:
		return v.countLong(match)
	}
	place := v.known.place(match)
	if tokens, ok := v.known.get(place, match); ok {
		return tokens
	}
	tokens := v.countPart(match)
	v.known.put(place, match, tokens)
	return tokens
}

// countLong counts in parts. Equal parts in a row, as in a run of one character, are
// counted once.
func (v *vocabulary) countLong(match string) (sum int) {
	counted, tokens := "", 0
	for len(match) > 0 {
		part := match
		if len(match) > maxPart {
			part = match[:runeStart(match, maxPart)]
		}
		if part != counted {
			counted, tokens = part, v.countPart(part)
		}
		sum += tokens
		match = match[len(part):]
	}
	return sum
}

// countPart counts bytes that are not UTF-8 as U+FFFD.
func (v *vocabulary) countPart(part string) int {
	if !utf8.ValidString(part) {
		part = string([]rune(part))
	}
	if _, found := v.table.rank(part); found {
		return 1
	}
	return v.table.countParts(part)
}

// runeStart returns the last index up to i at which a rune begins. It returns i if the text is not
// UTF-8.
func runeStart(text string, i int) int {
	for k := i; k > i-utf8.UTFMax; k-- {
		if utf8.RuneStart(text[k]) {
			return k
		}
	}
	return i
}
