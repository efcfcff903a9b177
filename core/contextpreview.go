package core

import (
	"appserver/core/pure/compaction"
	"appserver/core/pure/history"
	"appserver/protocol"
)

// PreviewContext requests the effect of a change of the context: of operations, or of what Change names.
type PreviewContext struct {
	To         protocol.Caller
	Operations []protocol.ContextOperation
	Change     protocol.PreviewedChange
	// Compaction has the rules for a preview of a compaction.
	Compaction compaction.Rules
	// Cache describes the cache of a model's provider.
	Cache func(provider, model string) CacheFacts
}

func (in PreviewContext) apply(s *step) { s.previewContext(in) }

func (s *step) previewContext(in PreviewContext) {
	answer, err := s.previewed(&in)
	if err != nil {
		s.reject(in.To, err)
		return
	}
	saved, behind := answer.Before.IncludedTokens-answer.After.IncludedTokens, answer.Cache.TokensBehind
	p := s.prices(in.Cache(s.state.Settings.Provider, s.state.Settings.Model))
	before := answer.After.PromptTokens - behind
	answer.NetPrice = netPrice(saved, min(behind, p.Leaving(before, saved)), &p)
	s.reply(in.To, answer)
}

func (s *step) previewed(in *PreviewContext) (protocol.ContextPreviewResponse, *protocol.Error) {
	switch c := in.Change; {
	case c.Revision != nil:
		at, err := s.At(c.Revision, nil)
		if err != nil {
			return protocol.ContextPreviewResponse{}, err
		}
		return s.previewOf(at.context, 0), nil
	case c.Restore:
		return s.previewOf(s.context.WithLine(&protocol.StoredContextEdit{Op: protocol.EditRestore}), 0), nil
	case c.Trim != nil:
		p := s.trimPlan(int(c.Trim.Turns()), protocol.TrimAsked, withSummary(c.Trim.Summary))
		return s.previewOfTrim(&p, p.Summary), nil
	case c.Compact != nil:
		return s.previewOfCompaction(in)
	}
	return s.context.Preview(in.Operations, s.state.SelectTurns, s.contextUsage)
}

// previewOf returns the effect of a changed copy of the context, to which a summary of some tokens is added.
func (s *step) previewOf(after *history.History, summary int64) protocol.ContextPreviewResponse {
	answer := after.PreviewFrom(s.context)
	answer.Before = s.contextUsage()
	at := *s.Thread
	at.context = after
	answer.After = at.contextUsage()
	answer.After.PromptTokens += summary
	answer.After.IncludedTokens += summary
	answer.After.TotalTokens += summary
	answer.Cache.TokensBehind += summary
	return answer
}

func (s *step) previewOfTrim(p *protocol.StoredTrimPoint, summary *string) protocol.ContextPreviewResponse {
	tokens := int64(0)
	if summary != nil {
		tokens = s.priceOf(*summary)
	}
	answer := s.previewOf(s.context.WithTrim(p), tokens)
	if summary != nil {
		answer.Summary = &protocol.PreviewedSummary{Tokens: tokens}
	}
	return answer
}

// previewOfCompaction returns the effect of the draft that thread/compact/propose would make. The summary of a model
// is not known yet: its greatest length counts.
func (s *step) previewOfCompaction(in *PreviewContext) (answer protocol.ContextPreviewResponse, err *protocol.Error) {
	plan, found, err := s.compactable().OfRange(&in.Compaction, in.Change.Compact.Range)
	switch {
	case err != nil:
		return answer, err
	case !found:
		return answer, protocol.Refuse(protocol.KindNothingToCompact, nothingToCompact)
	}
	strategy := in.Compaction.Strategy
	protocol.Override(&strategy, in.Change.Compact.Strategy)
	c := s.newCompaction(&in.Compaction, strategy, plan)
	switch strategy {
	case protocol.CompactMask:
		line := s.maskLine(c)
		return s.previewOf(s.context.WithLine(&line), 0), nil
	case protocol.CompactSummary:
		p := s.pointOf(c, &compaction.Audit{})
		summary, _ := in.Compaction.Budgets(in.Compaction.Target)
		answer = s.previewOf(s.context.WithTrim(&p), summary)
		answer.Summary = &protocol.PreviewedSummary{Tokens: summary, AtMost: true}
		return answer, nil
	}
	text, _ := c.summarize()
	audit := c.rules.Audit(&c.span, text)
	p := s.pointOf(c, &audit)
	return s.previewOfTrim(&p, &audit.Text), nil
}
