package digest

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// cues are words that mark the purpose of a sentence.
type cues struct {
	// words are the first words of cues, each with the words that may follow: "" for none.
	words map[string][]string
	// runs are cues in scripts without spaces.
	runs []string
}

// alone is for words that need no other.
var alone = []string{""}

// binding marks sentences that demand, forbid or limit. binds has the cues whose words are not
// adjacent.
var binding = cues{
	words: map[string][]string{
		"must": alone, "mustn't": alone, "never": alone, "always": alone, "don't": alone, "dont": alone, "do": {"not"},
		"only": alone, "should": alone, "shouldn't": alone, "shall": alone, "without": alone, "avoid": alone, "keep": alone,
		"make": {"sure"}, "ensure": alone, "be": {"sure to"}, "at": {"most", "least"}, "may": {"not"},
		"no": {"more than", "less than", "fewer than", "later than", "longer than"}, "not": {"more than", "less than"},
		"required": alone, "forbidden": alone, "mandatory": alone, "prohibited": alone, "stick": {"to", "with"},
		"you":  {"have to", "need to", "cannot", "can't", "not", "may now", "can now"},
		"stop": {"adding", "using", "changing", "editing", "writing", "running"}, "refrain": {"from"},
		"stay": {"below", "under", "within", "away"}, "exclusively": alone, "max": alone, "maximum": alone,
		"minimum": alone, "limit": {"it to", "this to", "them to"}, "limited": {"to"}, "prefer": alone,
		"forget": {"that rule", "the rule", "this rule"},

		"muss": alone, "musst": alone, "müssen": alone, "müsst": alone, "darf": alone, "dürfen": alone, "soll": alone,
		"sollen": alone,
		"sollte": alone, "sollten": alone, "nie": alone, "niemals": alone, "immer": alone, "nicht": alone, "nur": alone,
		"kein":  alone,
		"keine": alone, "keinen": alone, "ohne": alone, "höchstens": alone, "mindestens": alone, "vermeide": alone,
		"ausschließlich": alone, "maximal": alone, "lediglich": alone, "keinesfalls": alone, "keinerlei": alone,
		"verboten": alone,

		"doit": alone, "doivent": alone, "dois": alone, "devez": alone, "faut": alone, "jamais": alone, "toujours": alone,
		"seulement": alone, "uniquement": alone, "sans": alone, "évite": alone, "évitez": alone, "interdit": alone,
		"exclusivement": alone, "aucun": alone, "aucune": alone, "obligatoire": alone,
		"au": {"plus", "moins"},

		"debe": alone, "deben": alone, "debes": alone, "nunca": alone, "jamás": alone, "siempre": alone, "solo": alone,
		"sólo":      alone,
		"solamente": alone, "sin": alone, "evita": alone, "evite": alone, "prohibido": alone, "tiene": {"que"},
		"tienes": {"que"}, "hay": {"que"},

		"должен": alone, "должна": alone, "должно": alone, "должны": alone, "нельзя": alone, "никогда": alone,
		"всегда": alone,
		"не":     alone, "только": alone, "обязательно": alone, "запрещено": alone, "без": alone,
	},
	runs: []string{
		"必须", "不要", "务必", "只能", "禁止", "不得", "不许", "不准", "请勿", "切勿", "避免", "始终", "一定要",
		"必ず", "しない", "ないで", "必須", "してはいけない", "してはならない", "べき", "のみ", "避け",
	},
}

// decisive are the cues of sentences that settle something.
var decisive = cues{
	words: map[string][]string{
		"decided": alone, "decision": alone, "chose": alone, "chosen": alone, "opted": {"for"}, "settled": {"on"},
		"agreed": alone,
		"we":     {"will", "shall use"}, "we'll": alone, "i'll": {"use", "go with", "keep", "switch"},
		"i": {"will use", "will go with", "will keep", "will switch"}, "let": {"us use", "us go with"},
		"let's": {"use", "go with", "keep", "switch", "stick"}, "lets": {"use", "go with"},
		"instead": {"of"}, "rather": {"than"}, "go": {"with"}, "going": {"with"}, "went": {"with"},
		"switched": {"to"}, "switching": {"to"}, "switch": {"to"}, "stick": {"with", "to"}, "the": {"plan is", "choice is"},

		"entschieden": alone, "entscheidung": alone, "beschlossen": alone, "statt": alone, "stattdessen": alone,
		"anstatt": alone,
		"décidé":  alone, "choisi": alone, "plutôt": {"que"},
		"decidido": alone, "decidimos": alone, "elegido": alone,
		"решили": alone, "решено": alone, "решил": alone, "выбрали": alone, "вместо": alone,
	},
	runs: []string{"决定", "改用", "采用", "而不是", "決定", "決めた", "決めました", "採用", "代わりに"},
}

// statement is a sentence with its words.
type statement struct {
	text  string
	words []string
}

func statementOf(sentence string) statement { return statement{sentence, wordsOf(nil, sentence)} }

// labels are the headings of lists of rules.
var labels = map[string]bool{
	"rules": true, "constraints": true, "requirements": true, "restrictions": true, "conditions": true,
	"regeln": true, "vorgaben": true, "bedingungen": true, "anforderungen": true, "règles": true,
	"contraintes": true, "exigences": true, "reglas": true, "requisitos": true, "restricciones": true,
	"правила": true, "требования": true,
}

// isLabel reports whether a line is the heading of a list of rules, such as "Rules:".
func isLabel(line string) bool {
	words := wordsOf(nil, line)
	return len(words) <= labelWords && slices.ContainsFunc(words, func(w string) bool { return labels[w] })
}

// labelWords is the largest number of words of a heading.
const labelWords = 4

// isLead reports whether the entries of a list after a line bind.
func isLead(line string) bool { return isLabel(line) || statementOf(line).binds() }

// cue returns the first word of the first cue in the statement, or "".
func (s statement) cue(of cues) string {
	for i, word := range s.words {
		for _, following := range of.words[word] {
			if begins(s.words[i+1:], following) {
				return word
			}
		}
	}
	if ascii(s.text) {
		return ""
	}
	for _, run := range of.runs {
		if strings.Contains(s.text, run) {
			return run
		}
	}
	return ""
}

// begins reports whether words begin with the words of a phrase.
func begins(words []string, phrase string) bool {
	for phrase != "" {
		var word string
		word, phrase, _ = strings.Cut(phrase, " ")
		if len(words) == 0 || words[0] != word {
			return false
		}
		words = words[1:]
	}
	return true
}

func ascii(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// settles reports whether a statement has a decision. Questions have none.
func (s statement) settles() bool { return s.cue(decisive) != "" && !isQuestion(s.text) }

// binds reports whether a statement limits what may be done. Of questions, only requests do.
func (s statement) binds() bool {
	if isQuestion(s.text) && !s.requests() {
		return false
	}
	return s.cue(binding) != "" || s.negatesInFrench() || s.forbidsByNo() || s.choosesByNot()
}

// choosesByNot finds "Use tabs, not spaces".
func (s statement) choosesByNot() bool {
	words := s.words
	if len(words) > 0 && words[0] == "please" {
		words = words[1:]
	}
	return len(words) > 0 && words[0] == "use" && slices.Contains(words, "not")
}

// requests reports whether a question requests an action.
func (s statement) requests() bool {
	if len(s.words) > 1 && slices.Contains([]string{"can", "could", "would", "will"}, s.words[0]) && s.words[1] == "you" {
		return true
	}
	return slices.Contains(s.words, "please")
}

// negationSpan is the largest number of words between ne and pas.
const negationSpan = 4

func (s statement) negatesInFrench() bool {
	for i, word := range s.words {
		if word == "ne" || strings.HasPrefix(word, "n'") {
			end := min(len(s.words), i+2+negationSpan)
			if slices.ContainsFunc(s.words[i:end], func(w string) bool { return w == "pas" || w == "plus" || w == "aucun" }) {
				return true
			}
		}
	}
	return false
}

// spanishWords identify a Spanish sentence, in which "no" negates a verb.
var spanishWords = map[string]bool{"el": true, "los": true, "las": true, "que": true, "una": true, "por": true,
	"del": true, "es": true}

// politeNo are the words after a "no" that forbids nothing.
var politeNo = map[string]bool{
	"problem": true, "problems": true, "worries": true, "idea": true, "need": true, "thanks": true, "thank": true,
	"one": true,
	"it":  true, "that": true, "i": true, "the": true, "this": true, "wait": true,
}

// forbidsByNo finds "No new dependencies", and "no" before a verb in Spanish.
func (s statement) forbidsByNo() bool {
	for i, word := range s.words {
		if word == "no" && i+1 < len(s.words) && !politeNo[s.words[i+1]] {
			return i == 0 || slices.ContainsFunc(s.words, func(w string) bool { return spanishWords[w] })
		}
	}
	return false
}

// excerpt returns the statement. If it is longer than limit bytes and its first cue is not near the begin, the excerpt
// begins shortly before the cue.
func (s statement) excerpt(of cues, limit int) string {
	if len(s.text) <= limit {
		return s.text
	}
	at := wordIndex(strings.ToLower(s.text), s.cue(of))
	if at < limit/2 {
		return s.text
	}
	lead := limit / 3 // the bytes before the cue
	from := cutAfter(s.text, at-lead)
	if space := strings.IndexByte(s.text[from:min(len(s.text), from+lead/2)], ' '); space >= 0 {
		from += space + 1
	}
	return ellipsis + s.text[from:]
}
