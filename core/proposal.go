package core

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"appserver/protocol"
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

func (r *planParser) tag() string {
	if r.within {
		return planEnd
	}
	return planBegin
}

// mayBeTag reports whether the line can still become a tag.
func (r *planParser) mayBeTag() bool {
	line := strings.TrimLeftFunc(r.line, unicode.IsSpace)
	return strings.HasPrefix(r.tag(), line) || strings.TrimSpace(line) == r.tag()
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

// proposal is an answer in plan mode. Its plans are an item of their own.
type proposal struct {
	parser planParser
	// plan is the last plan of the answer. planID is the id of its item, or "" before it begins.
	plan      strings.Builder
	planID    string
	planBegan time.Time
	// message is the text around plans. Its item begins with the first word.
	message      strings.Builder
	messageBegan time.Time
	begun        bool
}

// splitsPlans reports whether plans are separated from answers.
func (s *step) splitsPlans() bool {
	return s.state.Settings.Mode == protocol.ModePlan && s.reviewing() == nil
}

// addParts sends parts of an answer in plan mode.
func (s *step) addParts(o *openMessage, parts []planPart) {
	for _, part := range parts {
		if part.plan {
			s.addPlanText(o.proposal, part)
		} else {
			s.addMessageText(o, part.text)
		}
	}
}

// addPlanText sends a part of a plan. All plans of an answer are one item with the text of the last
// one, as in the reference implementation.
func (s *step) addPlanText(p *proposal, part planPart) {
	if part.begins {
		p.plan.Reset()
	}
	if p.planID == "" {
		p.planID, p.planBegan = s.newPlanID(), s.Now
		s.notifyStarted(s.newItem(&protocol.PlanItem{ID: p.planID}, s.Now))
	}
	if part.text == "" {
		return
	}
	p.plan.WriteString(part.text)
	s.notify(&protocol.PlanDeltaNotification{ThreadID: s.state.ID, TurnID: s.active.id, ItemID: p.planID,
		Delta: part.text})
}

// newPlanID returns the id of the turn's next plan.
func (s *step) newPlanID() string {
	s.active.plans++
	if s.active.plans == 1 {
		return s.active.id + "-plan"
	}
	return fmt.Sprintf("%s-plan-%d", s.active.id, s.active.plans)
}

// addMessageText sends a part of the message. Blanks wait for the first word.
func (s *step) addMessageText(o *openMessage, text string) {
	p := o.proposal
	p.message.WriteString(text)
	if !p.begun {
		text = p.message.String()
		if strings.TrimSpace(text) == "" {
			return
		}
		p.begun, p.messageBegan = true, s.Now
		s.notifyStarted(s.newItem(&protocol.AgentMessageItem{ID: o.id}, s.Now))
	}
	s.notify(&protocol.AgentMessageDeltaNotification{ThreadID: s.state.ID, TurnID: s.active.id, ItemID: o.id, Delta: text})
}

// completePlan completes the plan of an answer, if any.
func (s *step) completePlan(p *proposal) {
	if p.planID != "" {
		s.completeItem(s.newItem(&protocol.PlanItem{ID: p.planID, Text: p.plan.String()}, p.planBegan), nil)
	}
}
