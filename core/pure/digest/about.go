package digest

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"appserver/core/pure/words"
)

// About returns the sentences of a text that share the most words with a question, in the order of the
// text, each on one line. They have at most limit characters with a space between them. If no sentence
// shares a word, it returns the first one.
func About(text, question string, limit int) []string {
	wanted := termsOf(question)
	var all []scored
	for sentence := range sentences(text) {
		all = append(all, scored{len(all), sentence, shared(sentence, wanted)})
	}
	ranked := slices.Clone(all)
	slices.SortStableFunc(ranked, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var chosen []scored
	room := limit
	for _, one := range ranked {
		size := utf8.RuneCountInString(one.text) + 1
		if len(chosen) > 0 && (one.score == 0 || size > room) {
			continue
		}
		chosen = append(chosen, one)
		room -= size
	}
	slices.SortFunc(chosen, func(a, b scored) int { return cmp.Compare(a.place, b.place) })
	texts := make([]string, len(chosen))
	for i, one := range chosen {
		texts[i] = firstCharacters(one.text, limit)
	}
	return texts
}

// scored is a sentence with its place in the text, and with the number of words that it shares with the question.
type scored struct {
	place int
	text  string
	score int
}

// Shared counts the words of a question that a text has, in any of their forms.
func Shared(text, question string) int { return shared(text, termsOf(question)) }

func termsOf(question string) map[string]bool {
	all := map[string]bool{}
	for _, term := range words.Terms(question) {
		all[term] = true
	}
	return all
}

func shared(text string, wanted map[string]bool) int {
	met := map[string]bool{}
	words.Each(text, func(word string) {
		if term := words.Term(word); wanted[term] {
			met[term] = true
		}
	})
	return len(met)
}

// firstCharacters returns a text as one line of at most limit characters. A longer text ends with an ellipsis.
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
