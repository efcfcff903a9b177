package core

import (
	"time"

	"appserver/core/pure/history"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// newItem returns an item that started at the time.
func (s *step) newItem(v protocol.ThreadItemVariant, at time.Time) *protocol.ThreadItem {
	return &protocol.ThreadItem{ThreadItemVariant: v, StartedAtMs: new(at.UnixMilli())}
}

func (s *step) notifyStarted(item *protocol.ThreadItem) {
	s.notify(
		protocol.ItemStartedNotification{Item: *item, ThreadID: s.state.ID, TurnID: s.active.id,
			StartedAtMs: *item.StartedAtMs})
}

// completeItem records and sends the final state of an item.
func (s *step) completeItem(item *protocol.ThreadItem, argv []string) {
	s.completeItemIn(s.active.id, item, argv)
}

// completeItemAs does the same as completeItemIn, with the rollout's form of the item.
func (s *step) completeItemAs(turnID string, item *protocol.ThreadItem, stored any) {
	now := s.Now.UnixMilli()
	item.CompletedAtMs = &now
	raw, err := protocol.Marshal(stored)
	if err != nil {
		return
	}
	s.event(protocol.ItemCompleted{Type: protocol.EventItemCompleted, ThreadID: s.state.ID, TurnID: turnID,
		Item: raw, StartedAtMs: item.StartedAtMs, CompletedAtMs: &now})
	s.out.Sync = true
	s.notify(protocol.ItemCompletedNotification{Item: *item, ThreadID: s.state.ID, TurnID: turnID, CompletedAtMs: now})
}

// completeItemIn does the same as completeItem, for a turn that can be completed.
func (s *step) completeItemIn(turnID string, item *protocol.ThreadItem, argv []string) {
	s.completeItemAs(turnID, item, transcript.EncodeItem(*item, argv))
}

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
	if s.context.Scale() != scale || s.context.WasAnnounced(reasoning) {
		s.context.MarkStale()
	}
	if info.CutTo > 0 || s.fillsWindow(u) {
		s.warnOfCut(u.InputTokens, s.context.Scaled(counted))
	}
}

func (s *step) notifyUsage(turnID string) {
	s.notify(protocol.ThreadTokenUsageUpdatedNotification{ThreadID: s.state.ID, TurnID: turnID, TokenUsage: s.state.Usage})
}

func (t *Thread) status() protocol.ThreadStatus {
	switch {
	case t.options.Visited:
		return protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusNotLoaded{}}
	case !t.isIdle():
		flags := []string{}
		if t.awaitsApproval() {
			flags = append(flags, protocol.FlagWaitingOnApproval)
		}
		if t.active.asks(protocol.FlagWaitingOnUserInput) {
			flags = append(flags, protocol.FlagWaitingOnUserInput)
		}
		return protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusActive{ActiveFlags: flags}}
	case t.failed:
		return protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusSystemError{}}
	}
	return protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusIdle{}}
}

func (s *step) notifyStatus() {
	s.notify(protocol.ThreadStatusChangedNotification{ThreadID: s.state.ID, Status: s.status()})
}

func (t *Thread) awaitsApproval() bool {
	if t.isIdle() {
		return false
	}
	if len(t.questions) > 0 {
		return true
	}
	return t.active.asks(protocol.FlagWaitingOnApproval)
}

func turnError(message string, err *ModelError) *protocol.TurnError {
	info := err.Info
	return &protocol.TurnError{Message: message, CodexErrorInfo: &info, AdditionalDetails: protocol.OrNil(err.Details)}
}
