package digest

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

const fence = "```"

// sentences returns the sentences of a text in order: parts of its lines.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range proseLines(text) {
			if !sentencesOf(line, yield) {
				return
			}
		}
	}
}

// proseLines returns the lines of a text without the marks of lists, quotes and headings, and whether
// a line had one. Lines between fences are code and left out. A fence without an end is no fence.
func proseLines(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		fences := strings.Count(text, fence) / 2 * 2
		for line := range strings.Lines(text) {
			code := fences%2 == 1
			if inLine := strings.Count(line, fence); inLine > 0 && fences > 0 {
				fences -= inLine
				code = true
			}
			plain := unmarked(line)
			if !code && !yield(plain, len(plain) < len(strings.TrimSpace(line))) {
				return
			}
		}
	}
}

// unmarked returns a line without the marks before its words.
func unmarked(line string) string {
	for {
		line = strings.TrimSpace(line)
		mark, rest, _ := strings.Cut(line, " ")
		if rest == "" || !isMark(mark) {
			return line
		}
		line = rest
	}
}

// isMark reports whether a word is a mark of a list, a quote or a heading: -, 12., ##.
func isMark(word string) bool {
	numbered := strings.TrimLeft(word, "0123456789")
	if numbered != word {
		return numbered == "." || numbered == ")"
	}
	return strings.Trim(word, ">#*-+•") == ""
}

// sentencesOf splits a line where a sentence ends.
func sentencesOf(line string, yield func(string) bool) bool {
	from := 0
	for i, r := range line {
		end := i + utf8.RuneLen(r)
		if isStop(r) && endsSentence(r, line[end:]) {
			if !yieldSentence(line[from:end], yield) {
				return false
			}
			from = end
		}
	}
	return yieldSentence(line[from:], yield)
}

func isStop(r rune) bool {
	switch r {
	case '.', '!', '?', '。', '！', '？':
		return true
	}
	return false
}

// endsSentence reports whether a mark ends a sentence, by the text after it. The marks of the Latin script
// also occur in names, numbers and abbreviations.
func endsSentence(mark rune, rest string) bool {
	if mark > unicode.MaxASCII {
		return true
	}
	words := strings.TrimLeft(rest[:min(len(rest), graphemeLimit)], " \t")
	next, _ := utf8.DecodeRuneInString(words)
	return rest != words && words != "" && !unicode.IsLower(next)
}

func yieldSentence(sentence string, yield func(string) bool) bool {
	sentence = strings.TrimSpace(sentence)
	return sentence == "" || yield(sentence)
}

// isQuestion reports whether a sentence ends with a question mark, before closing characters.
func isQuestion(sentence string) bool {
	sentence = strings.TrimRight(sentence, " *_\"')]»”’」』）")
	last, _ := utf8.DecodeLastRuneInString(sentence)
	return last == '?' || last == '？' || last == '؟'
}

// wordsOf appends the words of a text to a list, in small letters: runs of letters, digits and apostrophes. In scripts
// without spaces a run has many words.
func wordsOf(words []string, text string) []string {
	text = strings.ToLower(text)
	from := -1
	for i, r := range text {
		inside := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || from >= 0 &&
			(r == '\'' || r == '’')
		switch {
		case inside && from < 0:
			from = i
		case !inside && from >= 0:
			words = append(words, plainWord(text[from:i]))
			from = -1
		}
	}
	if from >= 0 {
		words = append(words, plainWord(text[from:]))
	}
	return words
}

// plainWord returns a word with plain apostrophes, and without those at its end.
func plainWord(word string) string {
	if strings.IndexByte(word, 0xe2) >= 0 {
		word = strings.ReplaceAll(word, "’", "'")
	}
	return strings.TrimRight(word, "'")
}
