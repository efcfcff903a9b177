package core

import (
	"strconv"

	"appserver/protocol"
)

// ListTerminals lists the commands that run in the background.
type ListTerminals struct{ To protocol.Caller }

// TerminateTerminal ends one of them. The response reports whether it exists.
type TerminateTerminal struct {
	To protocol.Caller
	ID string
}

// CleanTerminals ends all of them.
type CleanTerminals struct{ To protocol.Caller }

// EndTerminals ends all of them before the thread is unloaded. There is no response.
type EndTerminals struct{}

func (in ListTerminals) apply(s *step) {
	s.reply(in.To, protocol.ThreadBackgroundTerminalsListResponse{Data: s.terminalViews()})
}

func (in TerminateTerminal) apply(s *step) {
	term := s.terminalByID(in.ID)
	found := term != nil && term.result == nil
	s.reply(in.To, protocol.ThreadBackgroundTerminalsTerminateResponse{Terminated: found})
	if found {
		s.effect(Cancel{term.effect})
	}
}

func (in CleanTerminals) apply(s *step) {
	s.reply(in.To, protocol.Empty{})
	s.endTerminals()
}

func (EndTerminals) apply(s *step) { s.endTerminals() }

func (s *step) endTerminals() {
	for _, term := range s.liveTerminals() {
		s.effect(Cancel{term.effect})
	}
}

func (s *step) terminalViews() []protocol.ThreadBackgroundTerminal {
	views := []protocol.ThreadBackgroundTerminal{}
	for _, term := range s.liveTerminals() {
		view := protocol.ThreadBackgroundTerminal{
			ItemID:    term.itemID,
			ProcessID: term.id,
			Command:   term.command.Script,
			Cwd:       term.command.Cwd,
		}
		if pid, err := strconv.ParseUint(term.pid, 10, 32); err == nil {
			view.OsPid = new(uint32(pid))
		}
		views = append(views, view)
	}
	return views
}
