package token

import "unicode/utf8"

// The split patterns, as the library has them (codec/o200k_base.go,
// codec/cl100k_base.go), one alternative a line, tried from the top:
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
// The library's matcher is generated for speed and deviates from the patterns twice. This file follows the
// matcher. U+007F is in no match; every other character is in one. And 5 ends after the first run of CR
// and LF, where the pattern ends after the last one in the white space: "\n  \n" is two matches, and one
// for the models.
//
// A match does not depend on the text before it. Apart from the lookahead of 6, it does not depend on the
// text after it beyond its own characters. So text can be cut wherever a match certainly ends, if the cut
// does not change the lookahead. That holds if the character before the cut is no white space, if it is
// CR or LF, because 4 or 5 then matched before 6 was tried, or if 6 matches the same characters before
// the end of the text as before the rest.
//
// A match certainly ends, and the lookahead does not change,
//
//   - between two characters that no alternative has side by side: pattern.follow lists for each class
//     the classes that can come next in one match, or more. White space other than CR and LF never ends a
//     chunk by this rule.
//   - in o200k_base between a to z and A to Z: 1 and 2 take capitals before small letters only. "rE",
//     "vE" and "lL" can be within a contraction.
//   - in o200k_base between a letter and an apostrophe that no letter follows: only a contraction would
//     hold both.
//   - after each three digits of a run: only 3 takes digits, so a match begins where the run does.
//   - between two signs and a letter: 4 takes both signs at once, because a match that takes one of them
//     as the character before letters has no second one. In o200k_base the tail of 4 can take a slash and
//     then end, and 1 and 2 take marks as letters, so neither can be the first sign, nor a mark the
//     second.
//   - within blanks that begin a match, see pattern.cutBlanks.
type pattern struct {
	split  string
	ascii  [utf8.RuneSelf]class
	follow [numClasses]classes // what can follow a class within a match

	// Of two characters of these classes, both are in one match that ends before a
	// letter.
	firstSign, secondSign classes
}

// The patterns select the library's matchers, so they are the library's to the last character.
const (
	contractions = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	o200kSplit   = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` + contractions + `?` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*` + contractions + `?` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	cl100kSplit = contractions +
		`|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

func letters() classes { return setOf(lower, upper, letter) }

func everyClass() classes { return 1<<numClasses - 1 }

func o200kPattern() *pattern {
	word := letters() | setOf(mark, quote)
	signs := letters() | setOf(mark, quote, slash, sign, newline)
	return &pattern{
		split: o200kSplit,
		ascii: asciiClasses(),
		follow: [numClasses]classes{
			lower: word &^ setOf(upper), upper: word, letter: word,
			mark: signs, slash: signs, quote: signs, sign: signs,
			digit:   setOf(digit),
			newline: setOf(newline, slash),
			blank:   everyClass(), space: everyClass(),
		},
		firstSign:  setOf(quote, sign),
		secondSign: setOf(quote, sign, slash),
	}
}

func cl100kPattern() *pattern {
	signs := letters() | setOf(mark, quote, slash, sign, newline)
	return &pattern{
		split: cl100kSplit,
		ascii: asciiClasses(),
		follow: [numClasses]classes{
			lower: letters(), upper: letters(), letter: letters(),
			mark: signs, slash: signs, quote: signs, sign: signs,
			digit:   setOf(digit),
			newline: setOf(newline),
			blank:   everyClass(), space: everyClass(),
		},
		firstSign:  setOf(mark, quote, slash, sign),
		secondSign: setOf(mark, quote, slash, sign),
	}
}

// cut is the length of the first chunk of text that is not empty: a match is sure to
// end there, if one begins at its start.
func (p *pattern) cut(text string) int {
	i := p.blanks(text)
	if end, found := p.cutBlanks(text, i); found {
		return end
	}
	before, last := blank, blank // the classes of the two characters before i
	digits := 0                  // how many digits end at i
	for i < len(text) {
		c, size := p.classAt(text, i)
		switch {
		case i > 0 && p.ends(text, i, before, last, c), c == digit && digits == 3:
			return i
		case c == digit:
			digits++
		default:
			digits = 0
		}
		before, last = last, c
		if i += size; c == lower {
			i += smallLetters(text[i:])
		}
	}
	return len(text)
}

// smallLetters is how many of a to z the text begins with. No match is sure to end
// between two of them.
func smallLetters(text string) (n int) {
	for n < len(text) && 'a' <= text[n] && text[n] <= 'z' {
		n++
	}
	return n
}

func (p *pattern) classAt(text string, i int) (c class, size int) {
	if b := text[i]; b < utf8.RuneSelf {
		return p.ascii[b], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	return wideClass(r), size
}

// ends reports whether a match certainly ends at i, between characters of the classes last and c. It
// does not decide within runs of digits and of white space.
func (p *pattern) ends(text string, i int, before, last, c class) bool {
	switch {
	case !p.follow[last].has(c):
		return c != upper || !inContraction(text[i-1:i+1])
	case c <= letter:
		return p.secondSign.has(last) && p.firstSign.has(before)
	case c == quote && last <= letter:
		return !p.letterAt(text, i+1)
	}
	return false
}

// inContraction reports whether a small letter and a capital can be in 're, 've or 'll.
func inContraction(pair string) bool {
	return pair == "rE" || pair == "vE" || pair == "lL"
}

// letterAt takes all characters beyond ASCII for letters.
func (p *pattern) letterAt(text string, i int) bool {
	return i < len(text) && (text[i] >= utf8.RuneSelf || p.ascii[text[i]] <= letter)
}

// blanks is how many blanks the text begins with.
func (p *pattern) blanks(text string) (n int) {
	for n < len(text) && text[n] < utf8.RuneSelf && p.ascii[text[n]] == blank {
		n++
	}
	return n
}

// cutBlanks returns the place to cut a text that begins with a match and with n blanks.
//
// Two or more blanks before anything but white space: alternative 6 leaves the last one for the next
// match, so the text before it is a match of 6.
//
// One blank before a digit: alternative 7 matches it, or 6 if it is cut off.
//
// Before white space the result depends on the text after that.
func (p *pattern) cutBlanks(text string, n int) (end int, found bool) {
	if n == 0 || n == len(text) {
		return 0, false
	}
	switch next, _ := p.classAt(text, n); {
	case next == newline, next == space:
		return 0, false
	case n > 1:
		return n - 1, true
	default:
		return n, next == digit
	}
}
