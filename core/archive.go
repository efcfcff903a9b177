package core

import (
	"time"

	"appserver/protocol"
)

// TurnUnderWay returns the error for requests that need the turn to be over, or nil if no turn is
// active.
func (t *Thread) TurnUnderWay() *protocol.Error {
	if t.active == nil {
		return nil
	}
	err := protocol.Refuse(protocol.KindTurnActive,
		"turn %s is active: wait for its end, or interrupt it with turn/interrupt, and retry", t.active.id)
	err.Data.TurnID = t.active.id
	return err
}

// rejectInTurn rejects a request that needs the turn to be over, and reports whether it did. A turn
// whose turn/completed is delayed is completed first.
func (s *step) rejectInTurn(to protocol.Caller) bool {
	s.completePendingTurn()
	err := s.TurnUnderWay()
	if err != nil {
		s.reject(to, err)
	}
	return err != nil
}

func (s *step) archive(in Archive) {
	if s.options.Ephemeral {
		s.reject(in.To,
			protocol.Refuse(protocol.KindInvalidRequest, "ephemeral thread cannot be archived: %s is kept in memory only", s.id))
		return
	}
	if err := s.TurnUnderWay(); err != nil {
		s.reject(in.To, err)
		return
	}
	s.out.Archive = true
	if !in.Stored {
		s.notify(protocol.ThreadStatusChangedNotification{
			ThreadID: s.id,
			Status:   protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusNotLoaded{}},
		})
	}
	if in.Successor == "" {
		s.reply(in.To, protocol.Empty{})
	}
	s.notify(protocol.ThreadArchivedNotification{ThreadID: s.id})
	if in.Successor != "" {
		s.notify(protocol.ThreadArchivedAndNewCreatedNotification{ArchivedThreadID: s.id, NewThreadID: in.Successor})
	}
}

// Successor returns the first line of a new thread that replaces this one. It has the same
// environment and instructions, also those of the client that resumed the thread.
func (t *Thread) Successor(id string, at time.Time) protocol.SessionMeta {
	m := t.meta
	m.ID, m.SessionID, m.Timestamp, m.ForkedFromID = id, id, Timestamp(at), nil
	m.Cwd, m.ModelProvider, m.HistoryMode = t.settings.Cwd, t.settings.Provider, protocol.HistoryPaginated
	if t.base != nil {
		m.BaseInstructions = &protocol.Instructions{Text: *t.base}
	}
	if t.developer != nil {
		m.DeveloperInstructions = t.developer
	}
	return m
}
