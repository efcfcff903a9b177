package listing

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Length of a snippet before and after the start of the match, in characters.
const (
	snippetBefore = 48
	snippetAfter  = 112
)

// Snippet returns the part of a text around a term, or its start. The term is in lower case.
func Snippet(text, term string) string {
	text = strings.Join(
		strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }),
		" ",
	)
	// lower has the same number of runes, but possibly another number of bytes.
	lower, runes := strings.ToLower(text), []rune(text)
	at := utf8.RuneCountInString(lower[:max(0, strings.Index(lower, strings.Join(strings.Fields(term), " ")))])
	from, to := max(0, at-snippetBefore), min(len(runes), at+snippetAfter)
	part := string(runes[from:to])
	if from > 0 {
		part = "... " + part
	}
	if to < len(runes) {
		part += " ..."
	}
	return part
}
