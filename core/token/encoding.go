package token

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	_ "github.com/tiktoken-go/tokenizer/codec" // registers its matchers of the patterns
)

// The tokens, as the library has them: see [newTable].
var (
	//go:embed o200k_base.tokens
	o200kTokens string
	//go:embed cl100k_base.tokens
	cl100kTokens string
)

const (
	// maxChunk bounds what goes to the library at once, in bytes: it takes 40 to 130
	// bytes of memory for each, and n log n time for a match.
	maxChunk = 16 << 10

	// bytesPerToken is the estimate for text that the library refuses.
	bytesPerToken = 4
)

// encoding counts by one vocabulary and split pattern.
type encoding struct {
	pattern *pattern
	ready   func() *vocabulary // loads it at the first call
}

func newEncoding(tokens string, p *pattern) *encoding {
	return &encoding{p, sync.OnceValue(func() *vocabulary {
		return &vocabulary{newTable(tokens), regexp2.MustCompile(p.split, regexp2.None), newCounts()}
	})}
}

func (e *encoding) count(text string) (tokens int) {
	if text == "" {
		return 0
	}
	words := e.ready()
	for len(text) > 0 {
		end := e.pattern.cut(text)
		tokens += words.count(text[:end])
		text = text[end:]
	}
	return tokens
}

// vocabulary counts chunks, which begin and end with a match of the pattern.
type vocabulary struct {
	table *table
	split *regexp2.Regexp
	known *counts
}

// count relies on each byte of ASCII being a token.
func (v *vocabulary) count(chunk string) int {
	switch {
	case len(chunk) == 1 && chunk[0] < utf8.RuneSelf:
		return 1
	case len(chunk) > maxKey:
		return v.countLong(chunk)
	}
	place := v.known.place(chunk)
	if tokens, ok := v.known.get(place, chunk); ok {
		return tokens
	}
	tokens := v.ask(chunk)
	v.known.put(place, chunk, tokens)
	return tokens
}

// countLong counts in parts. Equal parts in a row, as in a run of one character, are
// counted once.
func (v *vocabulary) countLong(chunk string) (sum int) {
	counted, tokens := "", 0
	for len(chunk) > 0 {
		part := chunk
		if len(chunk) > maxChunk {
			part = chunk[:runeStart(chunk, maxChunk)]
		}
		if part != counted {
			counted, tokens = part, v.ask(part)
		}
		sum += tokens
		chunk = chunk[len(part):]
	}
	return sum
}

// ask counts the matches of the pattern. The library's matcher, made for speed, passes over U+007F, which
// the patterns take for a sign: each is counted here, as one token. Bytes that are not UTF-8 are U+FFFD in
// matches.
func (v *vocabulary) ask(chunk string) int {
	tokens := strings.Count(chunk, "\x7f")
	match, err := v.split.FindStringMatch(chunk)
	for ; match != nil && err == nil; match, err = v.split.FindNextMatch(match) {
		piece := match.String()
		if _, found := v.table.rank(piece); found {
			tokens++
		} else {
			tokens += v.table.countParts(piece)
		}
	}
	if err != nil {
		return (len(chunk) + bytesPerToken - 1) / bytesPerToken
	}
	return tokens
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
