package digest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"appserver/platform/pattern"
)

// rulesIn returns the first sentences of a message that bind. The entries of a list after a line that ends
// with a colon are read with that line: "Do not:", or "Rules:".
func rulesIn(text string) (rules []string) {
	above := lead{}
	for line, marked := range proseLines(text) {
		switch {
		case strings.HasSuffix(line, ":") && isLead(line):
			rules = above.unused(rules)
			above.line, above.used = line, isLabel(line)
		case marked && above.line != "":
			rules, above.used = append(rules, above.entry(line)), true
		case line != "":
			rules = above.unused(rules)
			above.line = ""
			for sentence := range sentences(line) {
				if s := statementOf(sentence); s.binds() {
					rules = append(rules, s.excerpt(binding, ruleLimit))
				}
			}
		}
		if len(rules) >= messageRules {
			return rules[:messageRules]
		}
	}
	return above.unused(rules)
}

// lead is a line before a list of rules.
type lead struct {
	line string
	// used is set if the line needs no entry of its own.
	used bool
}

// entry returns an entry of the list as a rule.
func (l lead) entry(line string) string {
	if isLabel(l.line) {
		return line
	}
	return l.line + " " + line
}

// unused adds the line itself if no list followed.
func (l lead) unused(rules []string) []string {
	if l.line == "" || l.used {
		return rules
	}
	return append(rules, l.line)
}

// demand is a sentence that binds, or one that could be its other wording: the parts in which both must agree.
type demand struct {
	// line is the sentence on one line in small letters, with a space between digits and letters.
	line string
	// words are the significant words without the cues.
	words   map[string]bool
	numbers []string
	// names are paths, identifiers, flags, abbreviations and capitalised words within the sentence.
	names          []string
	binds, negates bool
}

func demandOf(sentence string) demand {
	s := statementOf(sentence)
	d := demand{line: comparable(sentence), words: map[string]bool{}, binds: s.binds(), negates: s.negates()}
	for _, word := range significant(sentence) {
		if _, isCue := binding.words[word]; !isCue {
			d.words[word] = true
		}
	}
	d.numbers = numbersIn(d.line)
	for _, word := range s.words {
		if digits := numerals[word]; digits != "" {
			d.numbers = append(d.numbers, digits)
		}
	}
	d.names = namesIn(sentence)
	return d
}

// moreWords is the largest ratio of the words of another wording to those of the rule. More words narrow the rule.
const moreWords = 2

// keeps reports whether a sentence of a summary has what a rule demands.
func (d demand) keeps(rule demand) bool {
	if !d.binds || d.negates != rule.negates || len(rule.words) == 0 || len(d.words) > moreWords*len(rule.words) {
		return false
	}
	found := 0
	for word := range rule.words {
		if d.words[word] {
			found++
		}
	}
	if found*100 < len(rule.words)*mentionedPercent {
		return false
	}
	return !slices.ContainsFunc(rule.numbers, func(n string) bool { return !slices.Contains(d.numbers, n) }) &&
		!slices.ContainsFunc(rule.names, func(name string) bool { return wordIndex(d.line, name) < 0 })
}

// rule reports whether a text keeps a rule of the user: word for word, or one of its sentences has the rule's
// numbers and names, most of its words, and a cue that binds, with a negation only if the rule has one.
func (m *mentions) rule(rule string) bool {
	if m.hasSentence(rule) {
		return true
	}
	d := demandOf(rule)
	return slices.ContainsFunc(m.demands(), func(said demand) bool { return said.keeps(d) })
}

// demands returns the sentences of the text that could be rules.
func (m *mentions) demands() []demand {
	if m.sentences == nil {
		m.sentences = []demand{}
		for sentence := range sentences(m.text) {
			if d := demandOf(sentence); d.binds {
				m.sentences = append(m.sentences, d)
			}
		}
	}
	return m.sentences
}

// hasSentence reports whether the text has a sentence word for word: what follows it does not continue it.
func (m *mentions) hasSentence(sentence string) bool {
	if m.line == "" {
		m.line = comparable(m.text)
	}
	sentence = strings.TrimRight(comparable(sentence), ".!?。！？ ")
	for from := 0; sentence != ""; {
		at := wordIndex(m.line[from:], sentence)
		if at < 0 {
			return false
		}
		from += at + len(sentence)
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(m.line[from:], " "))
		if from == len(m.line) || m.line[from] == lineEnd || unicode.IsPunct(next) && next != '-' && next != '/' {
			return true
		}
	}
	return sentence == ""
}

// lineEnd separates the lines of a comparable text.
const lineEnd = '\n'

var digitLetter = pattern.New(`(\d)([a-z])`)

// comparable returns a text in small letters with single spaces, plain apostrophes, and a space between digits and
// letters: "5MB" is "5 mb".
func comparable(text string) string {
	lines := strings.Split(strings.ToLower(strings.ReplaceAll(valid(text), "’", "'")), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return digitLetter().ReplaceAllString(strings.Join(lines, string(lineEnd)), "$1 $2")
}

var number = pattern.New(`\d+(?:[.,:/_-]\d+)*`)

func numbersIn(text string) []string { return number().FindAllString(text, -1) }

// numerals are words that stand for numbers. Words that are articles as well are not among them.
var numerals = map[string]string{
	"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
	"zwei": "2", "drei": "3", "vier": "4", "fünf": "5", "sechs": "6", "sieben": "7", "acht": "8", "neun": "9",
	"zehn": "10",
	"deux": "2", "trois": "3", "quatre": "4", "cinq": "5", "sept": "7", "huit": "8", "dix": "10",
	"dos": "2", "tres": "3", "cuatro": "4", "cinco": "5", "seis": "6", "siete": "7", "ocho": "8", "nueve": "9",
	"diez": "10",
	"два":  "2", "две": "2", "три": "3", "четыре": "4", "пять": "5", "шесть": "6", "семь": "7", "восемь": "8",
	"девять": "9", "десять": "10",
}

var quoted = pattern.New("`([^`\n]+)`")

// namesIn returns the names in a sentence, as a comparable text has them.
func namesIn(sentence string) (names []string) {
	for _, span := range quoted().FindAllStringSubmatch(sentence, -1) {
		for _, field := range strings.Fields(span[1]) {
			names = append(names, comparable(field))
		}
	}
	for i, field := range strings.Fields(quoted().ReplaceAllString(sentence, " ")) {
		field = strings.Trim(field, ".,;:!?()[]{}<>\"'„“”«»…*")
		if isName(field, i == 0) {
			names = append(names, comparable(field))
		}
	}
	return names
}

// isName reports whether a word is a path, an identifier, a flag or an abbreviation, or is capitalised within a
// sentence.
func isName(word string, first bool) bool {
	lower := strings.ToLower(word)
	if _, isCue := binding.words[strings.ReplaceAll(lower, "’", "'")]; isCue || negations[lower] || !isASCIILetters(word) {
		return false
	}
	upper := strings.IndexFunc(word, unicode.IsUpper)
	switch inner := strings.Trim(word, "./-_"); {
	case strings.HasPrefix(word, "-") && len(inner) > 1, strings.ContainsAny(inner, "/_@#"):
		return true
	case strings.Contains(inner, "."):
		return strings.ContainsFunc(inner, unicode.IsDigit) || utf8.RuneCountInString(inner) > len("e.g")
	case upper < 0:
		return false
	case upper > 0, strings.IndexFunc(word[1:], unicode.IsUpper) >= 0:
		return len(word) > 1
	}
	return !first && len(word) > 1
}

// isASCIILetters reports whether a word has a letter of ASCII, as names in programs do.
func isASCIILetters(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' })
}

// negations are words that negate. Verbs that end with "n't" do so as well.
var negations = map[string]bool{
	"not": true, "never": true, "no": true, "dont": true, "cannot": true, "without": true, "avoid": true,
	"nor": true, "neither": true, "none": true, "nothing": true, "forbidden": true, "prohibited": true,
	"nicht": true, "nie": true, "niemals": true, "kein": true, "keine": true, "keinen": true, "keinem": true,
	"keiner": true, "ohne": true, "weder": true, "verboten": true, "vermeide": true, "vermeiden": true,
	"ne": true, "pas": true, "jamais": true, "sans": true, "aucun": true, "aucune": true, "ni": true,
	"interdit": true, "évite": true, "évitez": true, "rien": true, "nunca": true, "jamás": true, "sin": true,
	"prohibido": true, "evita": true, "evite": true, "ningún": true, "ninguna": true, "не": true, "нельзя": true,
	"никогда": true, "без": true, "запрещено": true, "ни": true,
}

// denseNegations negate in scripts without spaces.
var denseNegations = []string{"不", "勿", "禁止", "避免", "没", "别", "ない", "しません", "いけません", "避け"}

// negates reports whether a statement has a negation.
func (s statement) negates() bool {
	for _, word := range s.words {
		if negations[word] || strings.HasSuffix(word, "n't") {
			return true
		}
	}
	return !ascii(s.text) &&
		slices.ContainsFunc(denseNegations, func(run string) bool { return strings.Contains(s.text, run) })
}
