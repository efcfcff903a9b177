package model

import "strings"

// thinkTags enclose reasoning at the begin of an answer's text.
var thinkTags = [][2]string{{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"[THINK]", "[/THINK]"}}

// Think separates reasoning in tags from the text of an answer, for servers that do not. The reasoning is at the begin.
// If the template of the model has opened the tag, only its end comes: then Retract reports that the text so far was
// reasoning. An end that is quoted, in code, or after a begin within the text is text.
type Think struct {
	// Text and Reasoning take the parts, which are not empty. Retract comes before the text behind the end of a tag
	// that was not in the answer.
	Text, Reasoning func(string)
	Retract         func()
	// Found is set once reasoning was found.
	Found bool

	phase thinkPhase
	end   string // of the open tag
	held  string // what may become a tag
	// ticks counts the backticks of the text, last is its last byte, said is set if it is not blank.
	ticks int
	last  byte
	said  bool
}

type thinkPhase int

const (
	// beforeThought is the phase of blank text, in which a tag may begin.
	beforeThought thinkPhase = iota
	// withinThought is the phase of reasoning.
	withinThought
	// watchingText is the phase of text that may turn out to be reasoning.
	watchingText
	// afterThought is the phase of blank text behind the reasoning, which is dropped.
	afterThought
	// onlyText is the phase of text that stays text.
	onlyText
)

// Skip treats the whole text as text, because the provider separates reasoning itself.
func (t *Think) Skip() {
	if t.phase == beforeThought && t.held == "" {
		t.phase = onlyText
	}
}

// Add processes the next text.
func (t *Think) Add(text string) {
	for text != "" {
		switch t.phase {
		case beforeThought:
			text = t.begin(text)
		case withinThought:
			text = t.think(text)
		case watchingText:
			text = t.watch(text)
		case afterThought:
			if text = strings.TrimLeft(text, blanks); text != "" {
				t.phase = onlyText
			}
		default:
			t.Text(text)
			text = ""
		}
	}
}

const blanks = " \t\r\n"

// begin looks for a tag after blanks. It returns the rest of the text.
func (t *Think) begin(text string) (rest string) {
	t.held += text
	start := strings.TrimLeft(t.held, blanks)
	for _, tag := range thinkTags {
		if after, found := strings.CutPrefix(start, tag[0]); found {
			t.phase, t.end, t.held, t.Found = withinThought, tag[1], "", true
			return after
		}
		if strings.HasPrefix(tag[0], start) && len(t.held) < maxHeld {
			return ""
		}
	}
	text, t.held, t.phase = t.held, "", watchingText
	return text
}

// maxHeld bounds the blanks before a tag, in bytes.
const maxHeld = 4096

// think passes reasoning on up to the end of the tag. It returns the text behind it.
func (t *Think) think(text string) (rest string) {
	text, t.held = t.held+text, ""
	before, after, found := strings.Cut(text, t.end)
	if found {
		t.phase = afterThought
	} else {
		before, t.held = holdBack(text, t.end)
	}
	if before != "" {
		t.Reasoning(before)
	}
	return after
}

// watch passes text on up to the end of a tag that has not begun. It returns the text behind it.
func (t *Think) watch(text string) (rest string) {
	text, t.held = t.held+text, ""
	before, after, found := strings.Cut(text, thinkTags[0][1])
	switch {
	case strings.Contains(before, "<think"):
		t.pass(text)
		t.phase = onlyText
		return ""
	case !found:
		before, t.held = holdBack(text, thinkTags[0][0], thinkTags[0][1])
		t.pass(before)
		return ""
	}
	t.pass(before)
	if t.ticks%2 == 1 || t.last == '\'' || t.last == '"' {
		t.pass(thinkTags[0][1])
		return after
	}
	t.phase, t.Found = afterThought, true
	if t.said {
		t.Retract()
	}
	return after
}

// pass passes text on and remembers what decides about a later tag.
func (t *Think) pass(text string) {
	if text == "" {
		return
	}
	t.ticks += strings.Count(text, "`")
	t.last, t.said = text[len(text)-1], true
	t.Text(text)
}

// Close passes on what is held when the text ends. A next text begins anew.
func (t *Think) Close() {
	held, phase := t.held, t.phase
	t.held, t.phase, t.ticks, t.last, t.said = "", beforeThought, 0, 0, false
	switch {
	case held == "":
	case phase == withinThought:
		t.Reasoning(held)
	default:
		t.Text(held)
	}
}

// holdBack splits off the end of a text that may be the begin of a tag.
func holdBack(text string, tags ...string) (before, held string) {
	for at := max(len(text)-maxTag, 0); at < len(text); at++ {
		for _, tag := range tags {
			if strings.HasPrefix(tag, text[at:]) {
				return text[:at], text[at:]
			}
		}
	}
	return text, ""
}

// maxTag is the length of the longest tag, in bytes.
const maxTag = 11

// WithoutThought returns a whole text without its reasoning.
func WithoutThought(text string) string {
	var rest strings.Builder
	t := Think{Text: func(s string) { rest.WriteString(s) }, Reasoning: func(string) {}, Retract: rest.Reset}
	t.Add(text)
	t.Close()
	return rest.String()
}
