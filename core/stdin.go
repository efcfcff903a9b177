package core

import (
	"fmt"
	"strings"
	"time"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// WriteStdin writes Text to the terminal of a command, if there is a text. With Track it lasts for Watch or until the
// command has ended, and its end has the changes.
type WriteStdin struct {
	ID      EffectID
	TurnID  string
	Command EffectID
	Text    string
	Track   *Track
	Watch   time.Duration
}

func (WriteStdin) effect() {}

// StdinWritten ends a WriteStdin. Err is set if nothing was written.
type StdinWritten struct {
	Effect  EffectID
	Err     error
	Tracked *Tracked
}

func (in StdinWritten) apply(s *step) { s.stdinWritten(in) }

func stdinTool() builtInTool {
	return builtInTool{
		name:    toolspec.WriteStdin,
		spec:    func(*Thread) ToolSpec { return toolspec.StdinSpec },
		offered: func(t *Thread) bool { return t.capabilities.Terminals && !t.capabilities.Limits.NoShell },
		decode: func(_ *step, c *toolCall) (callKind, error) {
			in, err := toolspec.ParseStdin(c.call.Arguments)
			return &stdinCall{in}, err
		},
	}
}

// stdinCall is a call of write_stdin.
type stdinCall struct{ toolspec.Stdin }

func (k *stdinCall) readsOnly(*step) bool { return false }

func (k *stdinCall) start(s *step, c *toolCall) {
	term := s.terminalByID(k.Session)
	switch {
	case term == nil:
		s.completeCall(c, fmt.Sprintf("There is no session %s: its end was returned already, or the server was restarted. "+
			"The sessions are: %s.", k.Session, s.sessionList()))
		return
	case k.Chars != "" && k.Chars != toolspec.Interrupt && !term.command.Terminal.TTY:
		s.completeCall(c, fmt.Sprintf("Session %s takes no input. Run the command again with tty set to true, "+
			"or interrupt it with \\u0003.", k.Session))
		return
	}
	if term.writes && term.result == nil && s.holdForCapture(c, k) {
		return
	}
	s.notify(protocol.TerminalInteractionNotification{
		ThreadID: s.state.ID, TurnID: s.active.id, ItemID: term.itemID, ProcessID: term.id, Stdin: k.Chars})
	if term.result != nil {
		term.wait = &outputWait{call: c, began: s.Now, keep: k.Keep}
		s.completeEnded(term)
		return
	}
	s.startWait(term, c, k.Keep)
	s.writeStdin(term, k.Chars, k.Wait)
}

// resume starts the call anew, because its session can have ended.
func (k *stdinCall) resume(s *step, c *toolCall) { k.start(s, c) }

// abort does nothing. The end of the turn completes the call.
func (k *stdinCall) abort(*step, *toolCall) {}

// sessionList returns the ids of the sessions for a message to the model.
func (s *step) sessionList() string {
	var ids []string
	for _, term := range s.terminals {
		ids = append(ids, term.id)
	}
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}

// writeStdin writes to a terminal and waits for output. A command without a terminal can only be
// interrupted, and the interrupt ends it.
func (s *step) writeStdin(term *terminal, chars string, wait time.Duration) {
	l, interrupts := term.wait, chars != "" && !term.command.Terminal.TTY
	track := s.trackTyping(term)
	l.watched = track != nil && !interrupts
	if !l.watched {
		s.startWaitTimer(l, wait)
	}
	switch {
	case interrupts:
		s.effect(Cancel{term.effect})
	case l.watched || chars != "":
		l.stdin = s.newEffect()
		s.active.toolEffects = append(s.active.toolEffects, l.stdin)
		s.effect(WriteStdin{ID: l.stdin, TurnID: s.active.id, Command: term.effect, Text: chars, Track: track, Watch: wait})
	}
}

func (s *step) stdinWritten(in StdinWritten) {
	if !s.endToolEffect(in.Effect) {
		return
	}
	s.recordChanges(in.Tracked)
	if s.isEnding() {
		s.completeOnceEnded()
		return
	}
	for _, term := range s.terminals {
		if term.wait != nil && term.wait.stdin == in.Effect {
			s.stdinDone(term, in.Err)
			return
		}
	}
}

// stdinDone ends the wait of a call that wrote: if the time is over, or if nothing was written.
func (s *step) stdinDone(term *terminal, err error) {
	switch l := term.wait; {
	case term.result != nil:
		s.completeEnded(term)
		s.advance()
	case err != nil:
		s.stopWaitTimer(term)
		s.completeWait(term, fmt.Sprintf("Nothing was written: %v. Process running with session ID %s", err, term.id))
		s.advance()
	case l.watched:
		s.endWait(term)
	default:
		l.stdin = 0
	}
}
