package digest

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"appserver/core/words"
)

// Missing returns the facts that a text does not mention. A file is mentioned by its path or the last
// part of it. A command is mentioned by its script, or by its program with the first argument that is
// no flag. A sentence is mentioned if at least 60 % of its significant words occur: words of four
// letters or more, and pairs of letters in scripts without spaces.
func (f Facts) Missing(text string) Facts {
	m := mentions{text: text, words: map[string]bool{}}
	for _, word := range significant(text) {
		m.words[word] = true
	}
	return Facts{
		FilesChanged:    without(f.FilesChanged, m.file),
		CommandsRun:     without(f.CommandsRun, m.command),
		Decisions:       without(f.Decisions, m.sentence),
		OpenQuestions:   without(f.OpenQuestions, m.sentence),
		UserConstraints: without(f.UserConstraints, m.sentence),
	}
}

// without is the list without the entries that are mentioned. It is not nil.
func without(list []string, mentioned func(string) bool) []string {
	left := []string{}
	for _, entry := range list {
		if !mentioned(entry) {
			left = append(left, entry)
		}
	}
	return left
}

// mentions has the words of a text.
type mentions struct {
	text  string
	words map[string]bool
}

func (m mentions) file(path string) bool {
	if wordIndex(m.text, path) >= 0 {
		return true
	}
	trimmed := strings.TrimRight(path, "/")
	last := trimmed[strings.LastIndexByte(trimmed, '/')+1:]
	return last != "" && wordIndex(m.text, last) >= 0
}

// failureEnd is how an entry of a command ends that failed.
var failureEnd = regexp.MustCompile(` \((exit -?\d+|timed out|did not finish|not run)\)$`)

func (m mentions) command(entry string) bool {
	script := failureEnd.ReplaceAllString(entry, "")
	script = strings.TrimSpace(strings.TrimSuffix(script, ellipsis))
	if script == "" || wordIndex(m.text, script) >= 0 {
		return true
	}
	call := callIn(strings.Fields(script))
	return call != "" && wordIndex(m.text, call) >= 0
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

// mentionedPercent is how many of a sentence's words a text has that mentions it.
const mentionedPercent = 60

func (m mentions) sentence(sentence string) bool {
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
	return found*100 >= len(words)*mentionedPercent
}

// significantLetters is the least length of a significant word.
const significantLetters = 4

// significant are the significant words of a text, in small letters.
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

// runIn is the longest beginning of a word whose letters are all of scripts without
// spaces, or all of others.
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

// pairs are the letters of a run, two by two.
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

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
