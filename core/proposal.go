package core

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"appserver/protocol"
)

// The lines that a proposed plan stands between, in plan mode.
const planBegin, planEnd = "<proposed_plan>", "</proposed_plan>"

// planPart is a piece of an answer: of a plan, or of what is said beside it.
type planPart struct {
	plan bool
	// begins is set where a plan begins with this part.
	begins bool
	text   string
}

// planReader takes the plans out of an answer as it streams in. A tag counts only if it is alone
// on its line. A plan that is not closed ends with the answer.
type planReader struct {
	within bool
	// inLine is set behind the begin of a line that is no tag, line is the begin of one that
	// may become a tag.
	inLine bool
	line   string
}

// take reads the next piece.
func (r *planReader) take(text string) (parts []planPart) {
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

// end reads the end of the answer.
func (r *planReader) end() []planPart { return r.endLine(nil) }

func (r *planReader) tag() string {
	if r.within {
		return planEnd
	}
	return planBegin
}

// mayBeTag reports whether the line begun is the begin of a tag, or a tag before blanks.
func (r *planReader) mayBeTag() bool {
	line := strings.TrimLeftFunc(r.line, unicode.IsSpace)
	return strings.HasPrefix(r.tag(), line) || strings.TrimSpace(line) == r.tag()
}

func (r *planReader) endLine(parts []planPart) []planPart {
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

func (r *planReader) add(parts []planPart, text string) []planPart {
	switch last := len(parts) - 1; {
	case text == "":
	case last >= 0 && parts[last].plan == r.within:
		parts[last].text += text
	default:
		parts = append(parts, planPart{plan: r.within, text: text})
	}
	return parts
}

// proposal is an answer in plan mode, whose plans are items of their own.
type proposal struct {
	reader planReader
	// plan is the last plan of the answer, planID the id of its item, "" before one begins.
	plan      strings.Builder
	planID    string
	planBegan time.Time
	// said is what is said beside plans. The item begins with the first word of it.
	said      strings.Builder
	saidBegan time.Time
	begun     bool
}

// proposes reports whether plans are taken out of answers.
func (s *step) proposes() bool { return s.settings.Mode == protocol.ModePlan && s.reviewing() == nil }

// propose shows parts of an answer in plan mode.
func (s *step) propose(o *openText, parts []planPart) {
	for _, part := range parts {
		if part.plan {
			s.proposePlan(o.proposal, part)
		} else {
			s.sayBeside(o, part.text)
		}
	}
}

// proposePlan shows a part of a plan. All plans of an answer are one item, whose text is that of
// the last one, as of the reference implementation.
func (s *step) proposePlan(p *proposal, part planPart) {
	if part.begins {
		p.plan.Reset()
	}
	if p.planID == "" {
		p.planID, p.planBegan = s.newPlanID(), s.Now
		s.started(s.openItem(&protocol.PlanItem{ID: p.planID}, s.Now))
	}
	if part.text == "" {
		return
	}
	p.plan.WriteString(part.text)
	s.notify(&protocol.PlanDeltaNotification{ThreadID: s.id, TurnID: s.active.id, ItemID: p.planID, Delta: part.text})
}

// newPlanID is the id of the next plan of the turn.
func (s *step) newPlanID() string {
	s.active.plans++
	if s.active.plans == 1 {
		return s.active.id + "-plan"
	}
	return fmt.Sprintf("%s-plan-%d", s.active.id, s.active.plans)
}

// sayBeside shows what is said beside a plan. Blanks before the first word wait for it.
func (s *step) sayBeside(o *openText, text string) {
	p := o.proposal
	p.said.WriteString(text)
	if !p.begun {
		text = p.said.String()
		if strings.TrimSpace(text) == "" {
			return
		}
		p.begun, p.saidBegan = true, s.Now
		s.started(s.openItem(&protocol.AgentMessageItem{ID: o.id}, s.Now))
	}
	s.notify(&protocol.AgentMessageDeltaNotification{ThreadID: s.id, TurnID: s.active.id, ItemID: o.id, Delta: text})
}

// completePlan completes the plan of an answer, if it has one.
func (s *step) completePlan(p *proposal) {
	if p.planID != "" {
		s.completed(s.openItem(&protocol.PlanItem{ID: p.planID, Text: p.plan.String()}, p.planBegan), nil)
	}
}
