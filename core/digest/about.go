package digest

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// About is what of a text is about a question: the sentences that have the most of its
// significant words, in the order of the text, each on one line, at most limit characters
// with a space between them. Without any such sentence it is the first one.
func About(text, question string, limit int) []string {
	wanted := stems(question)
	var all []told
	for sentence := range sentences(text) {
		all = append(all, told{len(all), sentence, shared(sentence, wanted)})
	}
	ranked := slices.Clone(all)
	slices.SortStableFunc(ranked, func(a, b told) int { return cmp.Compare(b.score, a.score) })
	var chosen []told
	room := limit
	for _, one := range ranked {
		size := utf8.RuneCountInString(one.text) + 1
		if len(chosen) > 0 && (one.score == 0 || size > room) {
			continue
		}
		chosen = append(chosen, one)
		room -= size
	}
	slices.SortFunc(chosen, func(a, b told) int { return cmp.Compare(a.place, b.place) })
	texts := make([]string, len(chosen))
	for i, one := range chosen {
		texts[i] = firstCharacters(one.text, limit)
	}
	return texts
}

// told is a sentence, with how much of what is wanted it has.
type told struct {
	place int
	text  string
	score int
}

// Shared counts the significant words of a question that a text has, in any of their forms.
func Shared(text, question string) int { return shared(text, stems(question)) }

func stems(text string) map[string]bool {
	all := map[string]bool{}
	for _, word := range significant(text) {
		all[stem(word)] = true
	}
	return all
}

func shared(sentence string, wanted map[string]bool) (n int) {
	met := map[string]bool{}
	for _, word := range significant(sentence) {
		if s := stem(word); wanted[s] && !met[s] {
			met[s] = true
			n++
		}
	}
	return n
}

// stem is the beginning of a word that its forms share, about.
func stem(word string) string {
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if s, ok := strings.CutSuffix(word, end); ok && len(s) >= 4 {
			return s
		}
	}
	return word
}

// firstCharacters is a text on one line of limit characters at most, an ellipsis at the end
// of a longer one.
func firstCharacters(text string, limit int) string {
	text = strings.Join(strings.Fields(valid(text)), " ")
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	if limit <= 0 {
		return ""
	}
	n := 0
	for i := range text {
		if n++; n == limit {
			return strings.TrimRight(text[:i], " ") + ellipsis
		}
	}
	return text
}
