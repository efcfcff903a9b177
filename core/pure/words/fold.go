package words

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// marked has Latin letters with marks, each behind the letters without marks that it is one of.
const marked = "aàáâãäåāăą cçćĉċč dď eèéêëēĕėęě gĝğġģ hĥ iìíîïĩīĭį jĵ kķ lĺļľ nñńņň oòóôõöōŏő rŕŗř sśŝşš tţť uùúûüũūŭůűų " +
	"wŵ yýÿŷ zźżž"

// unmarked has the letter without a mark for each letter of marked.
var unmarked = sync.OnceValue(func() map[rune]rune {
	letters := map[rune]rune{}
	for _, group := range strings.Fields(marked) {
		plain, size := utf8.DecodeRuneInString(group)
		for _, r := range group[size:] {
			letters[r] = plain
		}
	}
	return letters
})

// Fold returns a word in lower case without the marks of its letters, as the tokenizer of SQLite does.
func Fold(word string) string {
	if strings.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return word
	}
	letters := unmarked()
	return strings.Map(func(r rune) rune {
		if plain, isMarked := letters[r]; isMarked {
			return plain
		}
		if unicode.Is(unicode.Mn, r) && r < 0x0370 {
			return -1
		}
		return r
	}, word)
}
