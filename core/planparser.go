package core

import (
	"strings"
	"unicode"
)

// The lines before and after a plan in plan mode.
const planBegin, planEnd = "<proposed_plan>", "</proposed_plan>"

// planPart is a piece of an answer: of a plan, or of the message around it.
type planPart struct {
	plan bool
	// begins is set if a plan begins with this part.
	begins bool
	text   string
}

// planParser separates plans from an answer as it streams in. A tag counts only if it is alone on
// its line. A plan that is not closed ends with the answer.
type planParser struct {
	within bool
	// inLine is set after the begin of a line that is no tag. line is the begin of a line that may
	// become a tag.
	inLine bool
	line   string
}

// write parses the next piece.
func (r *planParser) write(text string) (parts []planPart) {
	for line := range strings.Lines(text) {
		ends := strings.HasSuffix(line, "\n")
		if r.inLine {
			parts = r.add(parts, line)
			r.inLine = !ends
			continue
		}
		r.line += line
		switch {
		case ends:
			parts = r.endLine(parts)
		case !r.mayBeTag():
			parts = r.add(parts, r.line)
			r.inLine, r.line = true, ""
		}
	}
	return parts
}

// close parses the end of the answer.
func (r *planParser) close() []planPart { return r.endLine(nil) }

func (r *planParser) add(parts []planPart, text string) []planPart {
	switch last := len(parts) - 1; {
	case text == "":
	case last >= 0 && parts[last].plan == r.within:
		parts[last].text += text
	default:
		parts = append(parts, planPart{plan: r.within, text: text})
	}
	return parts
}

func (r *planParser) endLine(parts []planPart) []planPart {
	line := r.line
	r.line = ""
	if strings.TrimSpace(line) != r.tag() {
		return r.add(parts, line)
	}
	r.within = !r.within
	if r.within {
		parts = append(parts, planPart{plan: true, begins: true})
	}
	return parts
}

// mayBeTag reports whether the line can still become a tag.
func (r *planParser) mayBeTag() bool {
	line := strings.TrimLeftFunc(r.line, unicode.IsSpace)
	return strings.HasPrefix(r.tag(), line) || strings.TrimSpace(line) == r.tag()
}

func (r *planParser) tag() string {
	if r.within {
		return planEnd
	}
	return planBegin
}
