package core

import (
	"time"

	"appserver/protocol"
)

// Archive archives the thread, unless a turn is active. The engine posts EndTurn or ReleaseTurn
// before it.
type Archive struct {
	To protocol.Caller
	// Stored is set if the thread was loaded for this request only.
	Stored bool
	// Successor is the id of the new thread whose first step replies to the caller, or "".
	Successor string
}

func (in Archive) apply(s *step) { s.archive(in) }

func (s *step) archive(in Archive) {
	if s.options.Ephemeral {
		s.reject(in.To,
			protocol.Refuse(protocol.KindInvalidRequest, "ephemeral thread cannot be archived: %s is kept in memory only",
				s.state.ID))
		return
	}
	if err := s.TurnUnderWay(); err != nil {
		s.reject(in.To, err)
		return
	}
	s.out.Archive = true
	if !in.Stored {
		s.notify(protocol.ThreadStatusChangedNotification{
			ThreadID: s.state.ID,
			Status:   protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusNotLoaded{}},
		})
	}
	if in.Successor == "" {
		s.reply(in.To, protocol.Empty{})
	}
	s.notify(protocol.ThreadArchivedNotification{ThreadID: s.state.ID})
	if in.Successor != "" {
		s.notify(protocol.ThreadArchivedAndNewCreatedNotification{ArchivedThreadID: s.state.ID, NewThreadID: in.Successor})
	}
}

// Successor returns the first line of a new thread that replaces this one. It has the same environment
// and instructions, including the instructions of a client that resumed the thread.
func (t *Thread) Successor(id string, at time.Time) protocol.SessionMeta {
	m := t.state.Meta
	m.ID, m.SessionID, m.Timestamp, m.ForkedFromID = id, id, protocol.Timestamp(at), nil
	m.ParentThreadID, m.AgentNickname, m.AgentRole, m.AgentPath, m.AgentTools = nil, nil, nil, nil, nil
	m.Cwd, m.ModelProvider, m.HistoryMode = t.state.Settings.Cwd, t.state.Settings.Provider, protocol.HistoryPaginated
	if t.base != nil {
		m.BaseInstructions = &protocol.Instructions{Text: *t.base}
	}
	if t.developer != nil {
		m.DeveloperInstructions = t.developer
	}
	return m
}
