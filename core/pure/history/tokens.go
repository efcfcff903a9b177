package history

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tokens is a count before the scale.
type Tokens struct {
	All int64
	// Other is the part of All in scripts other than Latin.
	Other int64
}

// Plus returns the sum of two counts.
func (t Tokens) Plus(u Tokens) Tokens { return Tokens{t.All + u.All, t.Other + u.Other} }

// LatinTokens returns a count without text in other scripts.
func LatinTokens(n int64) Tokens { return Tokens{All: n} }

// textTokens returns the count of a text from the count of its other scripts, which the joints can make larger.
func textTokens(all, other int) Tokens { return Tokens{int64(all), int64(min(all, other))} }

// otherScripts returns the parts of a text that are in scripts other than Latin, each with the space before it,
// because tokens begin with spaces. Most texts have none.
func otherScripts(text string) string {
	at := firstOther(text)
	if at == len(text) {
		return ""
	}
	var b strings.Builder
	before := rune(0)
	if at > 0 {
		before = rune(text[at-1])
	}
	for _, r := range text[at:] {
		if isOther(r) {
			if before == ' ' {
				b.WriteByte(' ')
			}
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// firstOther returns the index of the first character of another script, or the length of the text.
func firstOther(text string) int {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if isOther(r) {
			return i
		}
		i += size
	}
	return len(text)
}

// isOther reports whether a character is a letter of another script than Latin, or of the width of Han characters.
func isOther(r rune) bool {
	const (
		firstGreek                = 0x0370
		cjkSigns, lastCJKSign     = 0x3000, 0x303f
		wideForms, lastWideForm   = 0xff00, 0xffef
		firstHan, lastHan         = 0x4e00, 0x9fff
		firstHangul, lastHangul   = 0xac00, 0xd7a3
		firstKana, lastKana       = 0x3040, 0x30ff
		generalSigns, lastGeneral = 0x2000, 0x2bff
	)
	switch {
	case r < firstGreek, r >= generalSigns && r <= lastGeneral, r == utf8.RuneError:
		return false
	case r >= firstHan && r <= lastHan, r >= firstHangul && r <= lastHangul, r >= firstKana && r <= lastKana,
		r >= cjkSigns && r <= lastCJKSign, r >= wideForms && r <= lastWideForm:
		return true
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && !unicode.Is(unicode.Latin, r)
}
