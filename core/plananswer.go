package core

import (
	"fmt"
	"strings"
	"time"

	"appserver/protocol"
)

// planAnswer is an answer in plan mode. Its plans are an item of their own.
type planAnswer struct {
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

// openItems returns the message with an id, and the plan, as far as they have begun.
func (p *planAnswer) openItems(id string) (items []protocol.ThreadItem) {
	if p.begun {
		items = append(items, newItem(&protocol.AgentMessageItem{ID: id, Text: p.message.String()}, p.messageBegan))
	}
	if p.planID != "" {
		items = append(items, newItem(&protocol.PlanItem{ID: p.planID, Text: p.plan.String()}, p.planBegan))
	}
	return items
}

// splitsPlans reports whether plans are separated from answers.
func (s *step) splitsPlans() bool {
	return s.state.Settings.Mode == protocol.ModePlan && s.reviewing() == nil
}

// addParts sends parts of an answer in plan mode.
func (s *step) addParts(o *openMessage, parts []planPart) {
	for _, part := range parts {
		if part.plan {
			s.addPlanText(o.plans, part)
		} else {
			s.addMessageText(o, part.text)
		}
	}
}

// addPlanText sends a part of a plan. All plans of an answer are one item with the text of the last
// one, as in the reference implementation.
func (s *step) addPlanText(p *planAnswer, part planPart) {
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
	return planID(s.active.id, s.active.plans)
}

// planID returns the id of the n-th plan of a turn. The other ids begin with the first one.
func planID(turn string, n int) string {
	if n == 1 {
		return turn + "-plan"
	}
	return fmt.Sprintf("%s-plan-%d", turn, n)
}

// addMessageText sends a part of the message. Blanks wait for the first word.
func (s *step) addMessageText(o *openMessage, text string) {
	p := o.plans
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
func (s *step) completePlan(p *planAnswer) {
	if p.planID != "" {
		s.completeItem(s.newItem(&protocol.PlanItem{ID: p.planID, Text: p.plan.String()}, p.planBegan), nil)
	}
}
