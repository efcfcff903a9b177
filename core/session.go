package core

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"appserver/core/toolspec"
	"appserver/protocol"
)

// This file holds what the model asks of terminals.

func (s *step) beginTyping(c *toolCall) {
	in, err := toolspec.ParseStdin(c.call.Arguments)
	if err != nil {
		s.answer(c, fmt.Sprintf("The arguments of %s could not be read: %v", c.call.Name, err))
		return
	}
	term := s.terminalNamed(in.Session)
	switch {
	case term == nil:
		s.answer(c, fmt.Sprintf("There is no session %s: its end was told, or it ended with the server. The sessions are: %s.", in.Session, s.sessions()))
		return
	case in.Chars != "" && in.Chars != toolspec.Interrupt && !term.command.Terminal.TTY:
		s.answer(c, fmt.Sprintf("Session %s takes no input: run the command again with tty. It can be interrupted with \\u0003.", in.Session))
		return
	}
	if term.writes && term.result == nil && s.held(c) {
		return
	}
	s.notify(protocol.TerminalInteractionNotification{
		ThreadID: s.id, TurnID: s.active.id, ItemID: term.itemID, ProcessID: term.id, Stdin: in.Chars})
	if term.result != nil {
		term.look = &look{call: c, began: s.Now, keep: in.Keep}
		s.readRest(term)
		return
	}
	s.lookAt(term, c, in.Keep)
	s.typeOn(term, in.Chars, in.Wait)
}

// sessions names the sessions that there are.
func (s *step) sessions() string {
	var ids []string
	for _, term := range s.terminals {
		ids = append(ids, term.id)
	}
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}

// typeOn types on a terminal, and waits. A command without one can be interrupted only, which
// ends it.
func (s *step) typeOn(term *terminal, chars string, wait time.Duration) {
	l, interrupts := term.look, chars != "" && !term.command.Terminal.TTY
	track := s.trackTyping(term)
	l.watched = track != nil && !interrupts
	if !l.watched {
		s.lookFor(l, wait)
	}
	switch {
	case interrupts:
		s.effect(Cancel{term.effect})
	case l.watched || chars != "":
		l.typing = s.newEffect()
		s.active.commands = append(s.active.commands, l.typing)
		s.effect(TypeKeys{ID: l.typing, TurnID: s.active.id, Command: term.effect, Text: chars, Track: track, Watch: wait})
	}
}

func (s *step) keysTyped(in KeysTyped) {
	if s.active == nil || !ended(&s.active.commands, in.Effect) {
		return
	}
	s.tracked(in.Tracked)
	if s.active.outcome != nil {
		s.finishWhenDone()
		return
	}
	for _, term := range s.terminals {
		if term.look != nil && term.look.typing == in.Effect {
			s.typed(term, in.Err)
			return
		}
	}
}

// typed ends the look of a call that typed, where its time is over or nothing was typed.
func (s *step) typed(term *terminal, err error) {
	switch l := term.look; {
	case term.result != nil:
		s.readRest(term)
		s.advance()
	case err != nil:
		s.stopLook(term)
		s.answerLook(term, fmt.Sprintf("Nothing was typed, for %v. Process running with session ID %s", err, term.id))
		s.advance()
	case l.watched:
		s.lookIsOver(term)
	default:
		l.typing = 0
	}
}

// ListTerminals asks for the commands that run in the background.
type ListTerminals struct{ To protocol.Caller }

// TerminateTerminal ends one of them, or tells that there is none with the id.
type TerminateTerminal struct {
	To protocol.Caller
	ID string
}

// CleanTerminals ends all of them.
type CleanTerminals struct{ To protocol.Caller }

// EndTerminals ends them for a thread that goes; nobody is answered.
type EndTerminals struct{}

func (in ListTerminals) apply(s *step) {
	s.reply(in.To, protocol.ThreadBackgroundTerminalsListResponse{Data: s.terminalViews()})
}

func (in TerminateTerminal) apply(s *step) {
	term := s.terminalNamed(in.ID)
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
		view := protocol.ThreadBackgroundTerminal{ItemID: term.itemID, ProcessID: term.id, Command: term.command.Script, Cwd: term.command.Cwd}
		if pid, err := strconv.ParseUint(term.pid, 10, 32); err == nil {
			view.OsPid = new(uint32(pid))
		}
		views = append(views, view)
	}
	return views
}
