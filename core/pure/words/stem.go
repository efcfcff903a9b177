package words

import "strings"

// minStem is the minimum length of a stem, in letters.
const minStem = 3

// endings are taken off English words, the first that fits, so that migrate, migrates, migrated,
// migrating and migration are one term. What is left need not be a word.
var endings = []string{
	"ization", "izations", "ations", "ation", "ators", "ator", "ating", "ated", "ates", "ate",
	"ments", "ment", "ings", "ing", "edly", "ied", "ies", "ed", "ers", "er", "ors", "or",
	"ions", "ion", "ness", "able", "ible", "ly", "es", "s", "e", "y",
}

// Stem returns a word in lower case without its ending. It returns words with other characters than
// a to z unchanged.
func Stem(word string) string {
	if len(word) <= minStem || strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) >= 0 {
		return word
	}
	for _, ending := range endings {
		rest, ok := strings.CutSuffix(word, ending)
		if !ok || len(rest) < minStem || !strings.ContainsAny(rest, "aeiouy") {
			continue
		}
		if ending == "s" && strings.HasSuffix(rest, "s") || ending == "y" &&
			strings.ContainsAny(rest[len(rest)-1:], "aeiou") {
			return word
		}
		return undoubled(rest)
	}
	return word
}

// undoubled reduces two equal letters at the end to one: stopp, from stopping, becomes stop.
func undoubled(word string) string {
	n := len(word)
	if n > minStem && word[n-1] == word[n-2] && !strings.ContainsAny(word[n-1:], "aeiouls") {
		return word[:n-1]
	}
	return word
}
