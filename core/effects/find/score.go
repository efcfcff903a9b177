package find

import (
	"unicode"

	"github.com/junegunn/fzf/src/util"
)

// Points of a word in a text. The library chooses the places; its own points differ for words
// in camel case and for slashes, and they cannot be configured.
const (
	pointsMatch     = 16
	pointsRow       = 4 // at least, for a character right after another
	pointsBoundary  = 8 // for the beginning of a word
	pointsDelimiter = 9 // for the beginning of a name
	pointsCamel     = 5 // for a capital or a digit inside a word
	costGap         = 3
	costLongerGap   = 1 // for each further character
)

// class is a kind of character. The kinds from lower on belong to words.
type class int

const (
	white class = iota
	punctuation
	delimiter
	lower
	upper
	letter
	number
)

func classOf(r rune) class {
	switch {
	case r == '/':
		return delimiter
	case unicode.IsLower(r):
		return lower
	case unicode.IsUpper(r):
		return upper
	case unicode.IsNumber(r):
		return number
	case unicode.IsLetter(r):
		return letter
	case unicode.IsSpace(r):
		return white
	}
	return punctuation
}

// bonus returns the additional points for a matched character at an index.
func bonus(text *util.Chars, at int) int {
	before, here := delimiter, classOf(text.Get(at))
	if at > 0 {
		before = classOf(text.Get(at - 1))
	}
	switch {
	case here >= lower && before == delimiter:
		return pointsDelimiter
	case here >= lower && before < delimiter:
		return pointsBoundary
	case before == lower && here == upper, before != number && here == number:
		return pointsCamel
	case here < delimiter:
		return pointsBoundary
	}
	return 0
}

// scoreOf returns the points of one word that matches at the places, which ascend. The bonus of
// the first character counts twice. A row of characters keeps the bonus of its beginning.
func scoreOf(text *util.Chars, places []int) (score int) {
	row, last := 0, 0
	for i, at := range places {
		b := bonus(text, at)
		gap := at - last - 1
		switch {
		case i == 0:
			row = b
			score = b
		case gap > 0:
			row = b
			score = max(score-costGap-(gap-1)*costLongerGap, 0)
		case b >= pointsBoundary && b > row:
			row = b
		}
		if i > 0 && gap == 0 {
			b = max(b, row, pointsRow)
		}
		score += pointsMatch + b
		last = at
	}
	return score
}
