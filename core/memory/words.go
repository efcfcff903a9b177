package memory

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxWord is how long a word may be, in bytes; the rest of it is passed over.
	maxWord = 64
	// maxTerms bounds the words that a search looks for.
	maxTerms = 32
)

// indexed is a text as words find it: its terms, in order.
func indexed(text string) string {
	var out strings.Builder
	out.Grow(len(text) + len(text)/2)
	eachWord(text, func(word string) {
		out.WriteString(stem(word))
		out.WriteByte(' ')
	})
	return out.String()
}

// terms are the words of a question that say what it is about, each once; all of its words where
// none does.
func terms(text string) []string {
	var all, telling []string
	seen := map[string]bool{}
	eachWord(text, func(word string) {
		term := stem(word)
		if seen[term] {
			return
		}
		seen[term] = true
		all = append(all, term)
		if !stopWords[word] {
			telling = append(telling, term)
		}
	})
	if len(telling) == 0 {
		telling = all
	}
	return telling[:min(len(telling), maxTerms)]
}

// eachWord gives the words of a text in lower case; their stems are its terms. A word of several
// parts (camelCase, snake_case, kebab-case, v2) is followed by its parts, so that either finds
// the other. Scripts without spaces are given by each two characters.
func eachWord(text string, give func(word string)) {
	for len(text) > 0 {
		at := strings.IndexFunc(text, isWordRune)
		if at < 0 {
			return
		}
		text = text[at:]
		size := compound(text)
		word := text[:size]
		text = text[size:]
		if strings.IndexFunc(word, isDense) >= 0 {
			dense(word, give)
			continue
		}
		compoundWords(word, give)
	}
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
}

// isDense tells of scripts that put no spaces between words.
func isDense(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// compound is how long the word is that a text begins with: runs of letters and digits, and single
// joints between them.
func compound(text string) (size int) {
	for size < len(text) {
		r, n := utf8.DecodeRuneInString(text[size:])
		if isWordRune(r) {
			size += n
			continue
		}
		if r != '_' && r != '-' {
			break
		}
		if next, _ := utf8.DecodeRuneInString(text[size+n:]); !isWordRune(next) {
			break
		}
		size += n
	}
	return size
}

// compoundWords gives a word without its joints, and its parts where there are several.
func compoundWords(word string, give func(word string)) {
	parts := partsOf(word)
	if len(parts) == 1 {
		give(limited(parts[0]))
		return
	}
	if whole := strings.Join(parts, ""); len(whole) <= maxWord {
		give(whole)
	}
	for _, p := range parts {
		if len(p) > 1 {
			give(limited(p))
		}
	}
}

func limited(word string) string { return cut(word, maxWord) }

// partsOf takes a word apart where a joint, a capital or a digit begins another part, and gives
// the parts in lower case.
func partsOf(word string) (parts []string) {
	begin, before := 0, rune(0)
	end := func(at int) {
		if at > begin {
			parts = append(parts, strings.ToLower(word[begin:at]))
		}
		begin = at
	}
	for at, r := range word {
		switch {
		case r == '_' || r == '-':
			end(at)
			begin = at + 1
		case at > begin && turns(before, r, word[at+utf8.RuneLen(r):]):
			end(at)
		}
		before = r
	}
	end(len(word))
	return parts
}

// turns tells whether a part begins with r: a capital after a small letter, or before one in a run
// of capitals, or a digit beside a letter.
func turns(before, r rune, rest string) bool {
	if unicode.IsUpper(r) {
		if !unicode.IsUpper(before) {
			return true
		}
		next, _ := utf8.DecodeRuneInString(rest)
		return unicode.IsLower(next)
	}
	return unicode.IsDigit(r) != unicode.IsDigit(before) && (unicode.IsLetter(before) || unicode.IsLetter(r))
}

// dense gives each two neighbours of a script without spaces, a single one alone, and what
// stands between in other scripts as words.
func dense(word string, give func(word string)) {
	runes := []rune(strings.ToLower(word))
	for i := 0; i < len(runes); {
		to := i
		for to < len(runes) && isDense(runes[to]) == isDense(runes[i]) {
			to++
		}
		switch {
		case !isDense(runes[i]):
			compoundWords(string(runes[i:to]), give)
		case to-i == 1:
			give(string(runes[i:to]))
		default:
			for k := i; k+1 < to; k++ {
				give(string(runes[k : k+2]))
			}
		}
		i = to
	}
}

func sortedKeys[V any](m map[int64]V) []int64 { return slices.Sorted(maps.Keys(m)) }

// stopWords are words that say nothing of what a question is about.
var stopWords = map[string]bool{
	"a": true, "an": true, "the": true, "and": true, "or": true, "but": true, "if": true, "so": true, "then": true, "than": true,
	"is": true, "are": true, "was": true, "were": true, "be": true, "been": true, "am": true, "it": true, "its": true, "this": true, "that": true,
	"these": true, "those": true, "there": true, "here": true, "i": true, "we": true, "you": true, "he": true, "she": true, "they": true,
	"me": true, "us": true, "my": true, "our": true, "your": true, "their": true, "of": true, "to": true, "in": true, "on": true, "at": true,
	"for": true, "from": true, "with": true, "by": true, "as": true, "into": true, "about": true, "do": true, "does": true, "did": true,
	"have": true, "has": true, "had": true, "what": true, "which": true, "who": true, "whom": true, "whose": true, "when": true, "where": true,
	"why": true, "how": true, "can": true, "could": true, "should": true, "would": true, "will": true, "shall": true, "may": true, "might": true,
	"must": true, "not": true, "no": true, "please": true, "again": true, "tell": true, "say": true, "said": true, "s": true, "t": true, "re": true,
	"der": true, "die": true, "das": true, "den": true, "dem": true, "ein": true, "eine": true, "und": true, "oder": true, "ist": true, "sind": true,
	"war": true, "wie": true, "wo": true, "wer": true, "wir": true, "ich": true, "fur": true, "für": true, "mit": true, "von": true, "zu": true, "im": true,
	"auf": true, "welche": true, "welcher": true, "welches": true, "noch": true, "le": true, "la": true, "les": true, "un": true, "une": true,
	"et": true, "ou": true, "est": true, "sont": true, "de": true, "du": true, "des": true, "dans": true, "pour": true, "avec": true, "quel": true,
	"quelle": true, "el": true, "los": true, "las": true, "que": true, "es": true, "y": true, "en": true, "para": true, "con": true, "cual": true,
}
