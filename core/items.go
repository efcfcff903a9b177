package core

import (
	"time"

	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// newItem returns an item that started at the time.
func (s *step) newItem(v protocol.ThreadItemVariant, at time.Time) *protocol.ThreadItem {
	item := newItem(v, at)
	return &item
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
