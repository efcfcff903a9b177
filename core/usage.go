package core

import (
	"appserver/core/pure/history"
	"appserver/protocol"
)

// addUsage records an answered model request. The usage is nil if the provider reports none.
func (s *step) addUsage(u *protocol.TokenUsageBreakdown, counted history.Tokens, sent *protocol.StoredRequest) {
	if u == nil {
		if sent != nil {
			s.event(protocol.TokenCount{Type: protocol.EventTokenCount, Request: sent})
		}
		return
	}
	window := s.state.Usage.ModelContextWindow
	if !s.isIdle() {
		s.active.hasUsage, window = true, s.active.env.Provider.ContextWindow
	}
	info := &protocol.TokenCountInfo{
		TotalTokenUsage: s.state.Usage.Total.Add(*u).Stored(), LastTokenUsage: u.Stored(),
		ModelContextWindow: window, CountedInputTokens: counted.All, CountedOtherTokens: counted.Other,
		CountedByModel: counted.All > 0 && s.context.Tokenizer().Known(s.state.Settings.Model),
		CutTo:          s.cutTo(u, counted),
	}
	if !s.isIdle() && s.active.review != nil { // a review does not change the last request of the thread
		info.LastTokenUsage = s.state.Usage.Last.Stored()
	}
	scale, reasoning := s.context.Scale(), s.context.FirstEstimated()
	s.event(protocol.TokenCount{Type: protocol.EventTokenCount, Info: info, Request: sent})
	s.context.MarkStaleFrom(reasoning)
	if s.context.Scale() != scale {
		s.context.MarkRepriced()
	}
	if info.CutTo > 0 || s.fillsWindow(u) {
		s.warnOfCut(u.InputTokens, s.context.Scaled(counted))
	}
}

func (s *step) notifyUsage(turnID string) {
	s.notify(protocol.ThreadTokenUsageUpdatedNotification{ThreadID: s.state.ID, TurnID: turnID, TokenUsage: s.state.Usage})
}
