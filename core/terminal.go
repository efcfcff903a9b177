package core

import (
	"fmt"
	"slices"
	"time"

	"appserver/core/excerpt"
	"appserver/core/toolspec"
	"appserver/protocol"
)

// terminal is a command that can run in the background. It belongs to the thread: an interrupt ends
// it only if its first call still waits.
type terminal struct {
	// id is the session id for the model and for clients. It is the ordinal of the call's line, so
	// no other session of the thread has it, also after a crash.
	id      string
	effect  EffectID
	turnID  string
	itemID  string
	command *shellCommand
	item    *protocol.ThreadItem
	// writes is set if the command may write files. Input can make it write.
	writes bool
	// pid is the id of the operating system, or "" before the command runs.
	pid string
	// pieces and bytes count the output that was sent to clients.
	pieces, bytes int
	// unread is the output that the model has not read.
	unread *excerpt.Text
	// wait is the call that waits for output, or nil.
	wait *outputWait
	// result is set when the command has ended. It stays until the model has read the rest.
	result *ToolResult
}

// outputWait is a call that waits for output of a terminal. It ends with a timer. If the files are
// watched, it has no timer and ends with their changes, so that no other call writes meanwhile.
type outputWait struct {
	call  *toolCall
	timer EffectID
	began time.Time
	// keep is how many bytes of output the call returns.
	keep int
	// stdin is the effect that writes the input, or 0 once it has. watched is set if the effect
	// also watches the files.
	stdin   EffectID
	watched bool
}

const (
	// maxTerminals bounds the running commands of a thread, and the ended ones that wait to be
	// read.
	maxTerminals = 64
)

// WriteStdin writes Text to the terminal of a command, if there is a text. With Track it lasts for
// Watch, and its end has the changes.
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

// terminalOfEffect returns the terminal that an effect runs, or nil.
func (t *Thread) terminalOfEffect(id EffectID) *terminal {
	for _, term := range t.terminals {
		if term.effect == id && term.result == nil {
			return term
		}
	}
	return nil
}

func (t *Thread) terminalByID(id string) *terminal {
	for _, term := range t.terminals {
		if term.id == id {
			return term
		}
	}
	return nil
}

// liveTerminals returns the running terminals, oldest first.
func (t *Thread) liveTerminals() []*terminal {
	return slices.DeleteFunc(slices.Clone(t.terminals), func(term *terminal) bool { return term.result != nil })
}

// HasTerminals reports whether commands run in the background.
func (t *Thread) HasTerminals() bool { return len(t.liveTerminals()) > 0 }

// openTerminal runs the command of a call on a terminal.
func (s *step) openTerminal(c *toolCall) {
	wish := c.command.Terminal
	c.state, c.effect = callRunning, s.newEffect()
	s.active.toolEffects = append(s.active.toolEffects, c.effect)
	term := &terminal{
		id:      c.session,
		effect:  c.effect,
		turnID:  s.active.id,
		itemID:  c.call.ID,
		command: c.command,
		item:    c.item,
		writes:  s.mayWrite(c.command),
		unread:  &excerpt.Text{Limit: toolspec.MaxOutput},
	}
	track := s.trackCommand(c.command)
	s.terminals = append(s.terminals, term)
	s.effect(RunTool{ID: c.effect, TurnID: s.active.id, Command: Command{
		Argv: c.command.Argv, Cwd: c.command.Cwd, Sandbox: s.sandboxOf(c.command), Workspace: s.state.Settings.Cwd,
		Environment: s.active.env.Environment, Stays: true, TTY: wish.TTY}, Track: track, Watch: wish.Wait})
	s.startWait(term, c, wish.Keep)
	if track == nil {
		s.startWaitTimer(term.wait, wish.Wait)
	}
}

func (s *step) startWait(term *terminal, c *toolCall, keep int) {
	c.state = callRunning
	term.wait = &outputWait{call: c, began: s.Now, keep: keep}
}

func (s *step) startWaitTimer(l *outputWait, wait time.Duration) {
	l.timer = s.newEffect()
	s.effect(Timer{ID: l.timer, Delay: wait})
}

// inFirstCall reports whether the call that started the command still waits. The model does not
// know the session yet.
func (term *terminal) inFirstCall() bool {
	return term.wait != nil && term.wait.call.effect == term.effect
}

// updateTerminalItem is updateCommandItem for terminals. Their first call may be done.
func (s *step) updateTerminalItem(term *terminal) *protocol.CommandExecutionItem {
	if term.inFirstCall() {
		item := s.updateCommandItem(term.wait.call, protocol.SourceStartup, &term.id)
		term.item = term.wait.call.item
		return item
	}
	item := *term.item.ThreadItemVariant.(*protocol.CommandExecutionItem)
	term.item.ThreadItemVariant = &item
	return &item
}

func (s *step) terminalOutput(term *terminal, text string) {
	if text == "" {
		return
	}
	term.unread.Write(text)
	if s.hasTurnOf(term) {
		s.updateTerminalItem(term)
		s.notifyOutput(term.turnID, term.itemID, term.limitOutput(text))
	}
}

// limitOutput returns the text to send to clients for a piece: the piece, the notice that the limit
// is reached, or "".
func (term *terminal) limitOutput(text string) string {
	over := term.pieces > MaxOutputPieces
	term.pieces++
	term.bytes += len(text)
	switch {
	case over:
		return ""
	case term.pieces > MaxOutputPieces, term.bytes > MaxOutputBytes:
		term.pieces = MaxOutputPieces + 1
		return MoreOutput
	}
	return text
}

// waitTimerFired completes a call whose time is over. The command continues.
func (s *step) waitTimerFired(timer EffectID) {
	for _, term := range s.terminals {
		if term.wait != nil && term.wait.timer == timer {
			s.endWait(term)
			return
		}
	}
}

func (s *step) endWait(term *terminal) {
	s.updateTerminalItem(term)
	removeEffect(&s.active.toolEffects, term.effect)
	s.completeWait(term, fmt.Sprintf("Process running with session ID %s", term.id))
	s.advance()
}

// completeWait completes the waiting call with the unread output.
func (s *step) completeWait(term *terminal, how string) {
	l, output := term.wait, term.unread.String()
	term.wait, term.unread = nil, &excerpt.Text{Limit: toolspec.MaxOutput}
	s.completeCall(l.call, terminalOutputText(s.Now.Sub(l.began), how, output, l.keep))
}

// terminalOutputText formats output for the model, in the form of the reference implementation.
// Output at its limit is cut already.
func terminalOutputText(took time.Duration, how, output string, keep int) string {
	if keep < toolspec.MaxOutput {
		kept := excerpt.Text{Limit: keep}
		kept.Write(output)
		output = kept.String()
	}
	return fmt.Sprintf("Wall time: %.4f seconds\n%s\nOutput:\n%s", took.Seconds(), how, output)
}

// terminalDone completes the item and the waiting call. Output that no call waits for can still be
// read.
func (s *step) terminalDone(term *terminal, r ToolResult) {
	term.result = &r
	if s.active == nil {
		s.closeDanglingTurn()
	}
	if s.hasTurnOf(term) {
		setResult(s.updateTerminalItem(term), r)
		s.completeItemIn(term.turnID, term.item, term.command.Argv)
	}
	if term.wait == nil {
		s.evictTerminals()
		return
	}
	if term.wait.watched {
		s.effect(Cancel{term.wait.stdin}) // its end completes the call
		return
	}
	s.stopWaitTimer(term)
	s.completeEnded(term)
	s.advance()
}

// hasTurnOf reports whether the thread still has the terminal's turn. A revert can remove it.
func (s *step) hasTurnOf(term *terminal) bool {
	_, known := s.transcript.IndexOf(term.turnID)
	return known
}

// completeEnded completes the waiting call with the end of the command, and removes the terminal.
func (s *step) completeEnded(term *terminal) {
	s.removeTerminal(term)
	s.completeWait(term, exitText(*term.result))
}

func exitText(r ToolResult) string {
	if r.ExitCode != nil {
		return fmt.Sprintf("Process exited with code %d", *r.ExitCode)
	}
	return "Process ended: " + r.Failure
}

func (s *step) removeTerminal(term *terminal) {
	s.terminals = slices.DeleteFunc(s.terminals, func(other *terminal) bool { return other == term })
}

// evictTerminals removes the oldest ended terminals above the limit.
func (s *step) evictTerminals() {
	for n := len(s.terminals) - len(s.liveTerminals()); n > maxTerminals; n-- {
		i := slices.IndexFunc(s.terminals, func(term *terminal) bool { return term.result != nil })
		s.terminals = slices.Delete(s.terminals, i, i+1)
	}
}

func (s *step) stopWaitTimer(term *terminal) {
	if term.wait.timer != 0 {
		s.effect(Cancel{term.wait.timer})
		term.wait.timer = 0
	}
}

// cancelWaits ends the waits of an interrupted turn. Commands whose first call waits end as well;
// others continue.
func (s *step) cancelWaits() {
	for _, term := range s.liveTerminals() {
		l := term.wait
		if l == nil {
			continue
		}
		s.stopWaitTimer(term)
		if !term.inFirstCall() {
			term.wait = nil
			s.completeCall(l.call, abortedOutputText)
		}
	}
}
