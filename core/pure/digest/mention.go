package digest

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"appserver/core/pure/words"
	"appserver/platform/pattern"
)

// Missing returns the facts that a text does not mention. A file is mentioned by its path, or by an end of
// it that no other changed file has. A command is mentioned by its script, or by its program with the first
// argument that is no flag. A failed one needs its cause, or a word for the failure in the same line, too. A
// decision or a question is mentioned if the text has its numbers and at least 60 % of its
// significant words: words of four letters or more, and pairs of letters in scripts without spaces. A
// rule of the user is mentioned word for word, or by one sentence that binds and has its numbers, its
// names and as many of its significant words, with a negation only if the rule has one.
func (f Facts) Missing(text string) Facts {
	m := &mentions{text: text, words: map[string]bool{}, numbers: map[string]bool{}, files: map[string][]string{}}
	for _, word := range significant(text) {
		m.words[word] = true
	}
	for _, n := range numbersIn(comparable(text)) {
		m.numbers[n] = true
	}
	for _, file := range f.FilesChanged {
		base := lastPart(file)
		m.files[base] = append(m.files[base], file)
	}
	return Facts{
		FilesChanged:    without(f.FilesChanged, m.file),
		CommandsRun:     without(f.CommandsRun, m.command),
		Decisions:       without(f.Decisions, m.sentence),
		OpenQuestions:   without(f.OpenQuestions, m.sentence),
		UserConstraints: without(f.UserConstraints, m.rule),
	}
}

// without returns the list without the entries that are mentioned. It is not nil.
func without(list []string, mentioned func(string) bool) []string {
	left := []string{}
	for _, entry := range list {
		if !mentioned(entry) {
			left = append(left, entry)
		}
	}
	return left
}

// mentions has the words and numbers of a text.
type mentions struct {
	text           string
	words, numbers map[string]bool
	// line is the comparable text, and sentences are those that bind, when a rule has been looked for.
	line      string
	sentences []demand
	// files are the changed files by the last parts of their paths.
	files map[string][]string
}

func (m *mentions) file(file string) bool {
	file = strings.TrimRight(file, "/")
	base := lastPart(file)
	for at := range indices(m.text, base) {
		from := at
		for from > 0 && pathByte(m.text[from-1]) {
			from--
		}
		named := strings.TrimPrefix(m.text[from:at+len(base)], "./")
		switch {
		case named == file, strings.HasPrefix(named, "/") && endsWithPath(named, file) && !m.closer(file, named):
			return true
		case endsWithPath(file, named) && m.only(file, named):
			return true
		}
	}
	return base == "" || !ascii(file) && strings.Contains(m.text, file)
}

// only reports whether no other changed file ends as a text names this one.
func (m *mentions) only(file, named string) bool {
	return !slices.ContainsFunc(m.files[lastPart(named)], func(other string) bool {
		other = strings.TrimRight(other, "/")
		return other != file && !sameFile(other, file) && (other == named || endsWithPath(other, named))
	})
}

// closer reports whether another changed file has more of a path that a text names.
func (m *mentions) closer(file, named string) bool {
	return slices.ContainsFunc(m.files[lastPart(named)], func(other string) bool {
		return len(other) > len(file) && (other == named || endsWithPath(named, other))
	})
}

// sameFile reports whether one of two paths is the absolute form of the other one.
func sameFile(a, b string) bool {
	return strings.HasPrefix(a, "/") && endsWithPath(a, b) || strings.HasPrefix(b, "/") && endsWithPath(b, a)
}

// endsWithPath reports whether the last parts of a path are those of another one.
func endsWithPath(path, end string) bool { return strings.HasSuffix(path, "/"+end) }

func lastPart(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

func pathByte(c byte) bool { return wordByte(c) || strings.IndexByte("./-~+@", c) >= 0 }

// failureEnd matches the end of the entry of a failed command: the failure and its cause.
var failureEnd = pattern.New(` \((exit -?\d+|timed out|did not finish|not run)\)(?:: (.*))?$`)

// failureWords are parts of words and phrases for a failure, in small letters.
var failureWords = []string{"fail", "error", "exit ", "exited", "broke", "panic", "timed out", "timeout", "did not", "didn't",
	"not run", "declined", "does not", "doesn't", "cannot", "crash", "fehl", "scheiter", "abgebrochen", "nicht",
	"échou", "échec", "erreur", "falla", "falló", "ошибк", "не ", "失败", "错误", "失敗", "エラー"}

func (m *mentions) command(entry string) bool {
	if wordIndex(m.text, entry) >= 0 {
		return true
	}
	failed := failureEnd().FindStringSubmatch(entry)
	script := failureEnd().ReplaceAllString(entry, "")
	script = strings.TrimSpace(strings.TrimSuffix(script, ellipsis))
	if script == "" {
		return true
	}
	call := callIn(strings.Fields(script))
	for line := range strings.Lines(m.text) {
		if wordIndex(line, script) < 0 && (call == "" || wordIndex(line, call) < 0) {
			continue
		}
		if failed == nil || hasFailureWord(line) || failed[2] != "" && m.sentence(strings.TrimSuffix(failed[2], ellipsis)) {
			return true
		}
	}
	return false
}

func hasFailureWord(line string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc(failureWords, func(word string) bool { return strings.Contains(line, word) })
}

// callIn returns the program of a script with its first argument that is no flag, after assignments
// and a change of directory, or "" without such an argument.
func callIn(fields []string) string {
	if len(fields) > 3 && fields[0] == "cd" && fields[2] == "&&" {
		fields = fields[3:]
	}
	for len(fields) > 0 && strings.Contains(fields[0], "=") {
		fields = fields[1:]
	}
	for i, field := range fields {
		if i > 0 && field[0] != '-' {
			return fields[0] + " " + field
		}
	}
	return ""
}

// mentionedPercent is the least share of a sentence's words in a text that mentions it.
const mentionedPercent = 60

func (m *mentions) sentence(sentence string) bool {
	words := significant(sentence)
	if len(words) == 0 {
		return strings.Contains(strings.ToLower(m.text), strings.ToLower(sentence))
	}
	found := 0
	for _, word := range words {
		if m.words[word] {
			found++
		}
	}
	missesNumber := slices.ContainsFunc(numbersIn(comparable(sentence)), func(n string) bool { return !m.numbers[n] })
	return found*100 >= len(words)*mentionedPercent && !missesNumber
}

// significantLetters is the least length of a significant word.
const significantLetters = 4

// significant returns the significant words of a text, in small letters.
func significant(text string) (words []string) {
	for _, word := range wordsOf(nil, text) {
		for word != "" {
			run, dense := runIn(word)
			word = word[len(run):]
			switch {
			case dense:
				words = append(words, pairs(run)...)
			case utf8.RuneCountInString(run) >= significantLetters:
				words = append(words, run)
			}
		}
	}
	return words
}

// runIn returns the longest beginning of a word whose letters are all of scripts without spaces, which are dense, or
// all of others.
func runIn(word string) (run string, dense bool) {
	for i, r := range word {
		switch d := words.IsDense(r); {
		case i == 0:
			dense = d
		case d != dense:
			return word[:i], dense
		}
	}
	return word, dense
}

// pairs returns each pair of adjacent letters of a run, or the run if it has one letter.
func pairs(run string) []string {
	last := -1
	var found []string
	for i, r := range run {
		if last >= 0 {
			found = append(found, run[last:i+utf8.RuneLen(r)])
		}
		last = i
	}
	if len(found) == 0 {
		return []string{run}
	}
	return found
}

// wordIndex returns the index of a phrase in a text, if it is not within a longer word of ASCII
// letters, or -1.
func wordIndex(text, phrase string) int {
	for from := 0; phrase != ""; {
		at := strings.Index(text[from:], phrase)
		if at < 0 {
			break
		}
		at += from
		end := at + len(phrase)
		if (at == 0 || !wordByte(text[at-1]) || !wordByte(phrase[0])) &&
			(end == len(text) || !wordByte(text[end]) || !wordByte(phrase[len(phrase)-1])) {
			return at
		}
		from = at + 1
	}
	return -1
}

// indices returns the indices of a phrase in a text, if it is not within a longer word of ASCII letters.
func indices(text, phrase string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; from < len(text); {
			at := wordIndex(text[from:], phrase)
			if at < 0 || !yield(from+at) {
				return
			}
			from += at + len(phrase)
		}
	}
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
