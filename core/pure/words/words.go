package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"appserver/platform/excerpt"
)

const (
	// maxWord is the maximum length of a word in bytes. The rest is ignored.
	maxWord = 64
	// maxTerms bounds the words that a search looks for.
	maxTerms = 32
)

// Indexed returns a text as words find it: its stems, in order, with a space behind each. It adds them to stems.
func Indexed(text string, stems map[string]bool) string {
	var out strings.Builder
	out.Grow(len(text) + len(text)/2)
	Each(text, func(word string) {
		stem := Stem(word)
		stems[stem] = true
		out.WriteString(stem)
		out.WriteByte(' ')
	})
	return out.String()
}

// Term returns the term of a word: its stem, without the marks of letters.
func Term(word string) string { return Fold(Stem(word)) }

// Terms returns the terms of the significant words of a question, each once, or of all of its words if none
// is significant.
func Terms(text string) []string {
	var all, telling []string
	seen := map[string]bool{}
	Each(text, func(word string) {
		term := Term(word)
		if seen[term] {
			return
		}
		seen[term] = true
		all = append(all, term)
		if !stopWords()[Fold(word)] {
			telling = append(telling, term)
		}
	})
	if len(telling) == 0 {
		telling = all
	}
	return telling[:min(len(telling), maxTerms)]
}

// Each yields the words of a text in lower case; their stems are its terms. A word of several parts
// (camelCase, snake_case, kebab-case, v2) is followed by its parts.
func Each(text string, give func(word string)) {
	for len(text) > 0 {
		at := strings.IndexFunc(text, isWordRune)
		if at < 0 {
			return
		}
		text = text[at:]
		size := compound(text)
		word := text[:size]
		text = text[size:]
		if strings.IndexFunc(word, IsDense) >= 0 {
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

// IsDense reports whether a letter belongs to a script without spaces between words. The mark of long
// vowels belongs to two of them, and to none in Unicode.
func IsDense(r rune) bool {
	return r >= 0x0e00 &&
		(r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao,
			unicode.Khmer, unicode.Myanmar))
}

// compound returns the length of the word at the begin of a text: runs of letters and digits, and
// single joints between them.
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

// compoundWords yields a word without its joints, and its parts if there are several.
func compoundWords(word string, give func(word string)) {
	parts := partsOf(word)
	if len(parts) == 1 {
		give(excerpt.Prefix(parts[0], maxWord))
		return
	}
	if whole := strings.Join(parts, ""); len(whole) <= maxWord {
		give(whole)
	}
	for _, p := range parts {
		if len(p) > 1 {
			give(excerpt.Prefix(p, maxWord))
		}
	}
}

// partsOf divides a word where a joint, a capital or a digit begins another part, and yields the
// parts in lower case.
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

// turns reports whether a part begins with r: a capital after a small letter, or before one in a run
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

// dense yields each pair of neighbours in a script without spaces, or a single character alone, and
// the text in other scripts between them as words.
func dense(word string, give func(word string)) {
	runes := []rune(strings.ToLower(word))
	for i := 0; i < len(runes); {
		to := i
		for to < len(runes) && IsDense(runes[to]) == IsDense(runes[i]) {
			to++
		}
		switch {
		case !IsDense(runes[i]):
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
