package core

import (
	"fmt"

	"appserver/core/compaction"
	"appserver/core/history"
	"appserver/protocol"
)

// askSummary asks the model for a summary.
func (s *step) askSummary() {
	t := s.active
	id := s.newEffect()
	t.request = &modelRequest{effect: id, summary: true}
	t.modelEffects = append(t.modelEffects, id)
	s.effect(ModelRequest{ID: id, TurnID: t.id, Prompt: s.summaryPrompt(t.compaction, t.env.Provider.ContextWindow)})
}

// summaryPrompt returns the request for the summary of a compaction, within the model's window.
func (t *Thread) summaryPrompt(c *runningCompaction, window *int64) *Prompt {
	p := t.request()
	p.Instructions, p.Tools, p.WebSearch, p.OutputSchema, p.Summarises = compaction.SummaryPrompt, nil, nil, nil, true
	if c.rules.Prompt != "" {
		p.Instructions = c.rules.Prompt
	}
	text := t.compactable().Transcript(&c.span, p.Instructions, window)
	p.Items = []protocol.ResponseItem{{ResponseItemVariant: history.UserMessage(text)}}
	return p
}

// summaryDone uses the model's summary, or makes one without the model.
func (s *step) summaryDone(m *modelRequest, in ModelDone) {
	t := s.active
	t.request = nil
	if in.Answer.Usage != nil {
		s.addUsage(in.Answer.Usage, 0)
		s.notifyUsage(t.id)
	}
	s.out.Sync = true
	text, flaw := t.compaction.rules.Accept(&t.compaction.span, m.answer.String(), in.Answer.Cut)
	switch {
	case s.context.Revision() != t.compaction.revision:
		s.compactAgain()
	case flaw != "":
		s.summarizeWithoutModel(flaw)
	default:
		s.active.retries, s.active.silent = 0, 0
		s.commitCompaction(t.compaction.rules.AddConstraints(&t.compaction.span, text), protocol.CompactSummary)
	}
}

// compactAgain plans the compaction again, because an edit changed the context while the model wrote
// its summary.
func (s *step) compactAgain() {
	t, strategy := s.active, s.active.compaction.strategy
	s.recordSize()
	s.endCompaction()
	switch {
	case !t.compacts:
		s.requestModel()
	case t.compactions < maxCompactions:
		t.compactions++
		s.compactOnRequest(strategy)
	default:
		s.warn([]string{"The context was changed again and again while its summary was written: nothing is compacted."})
		s.finishTurn(protocol.TurnCompleted, nil)
	}
}

// summarizeWithoutModel makes the summary without the model, and warns with the reason.
func (s *step) summarizeWithoutModel(why string) {
	s.active.retries, s.active.silent = 0, 0
	s.warn([]string{summaryFailed(why)})
	c := s.active.compaction
	s.commitCompaction(c.rules.Extract(&c.span), protocol.CompactLocal)
}

func summaryFailed(why string) string {
	return fmt.Sprintf("The model could not summarise the conversation (%s): an extract that was made without it stands in its place.", why)
}

// beginOfText returns the beginning of a text, at most limit bytes of it.
func beginOfText(text string, limit int) string {
	begin, _ := beginOf(text, max(limit, 0))
	return begin
}
