package core

import (
	"fmt"
	"slices"
	"time"

	"appserver/core/excerpt"
	"appserver/core/toolspec"
	"appserver/protocol"
)

// terminal is a command that the model can leave running, and come back to. It belongs to
// the thread: a turn that is interrupted ends it only while the call that began it waits.
type terminal struct {
	// id is the session's, for the model and for clients. It is the number of the line of
	// the call: no other of the thread has it, nor has one before a crash.
	id      string
	effect  EffectID
	turnID  string
	itemID  string
	command *shellCommand
	item    *protocol.ThreadItem
	// writes is set where it may write files, so that what it is typed can have it do so.
	writes bool
	// pid is that of the operating system, "" before it runs.
	pid string
	// pieces and bytes count what clients were sent of the output.
	pieces, bytes int
	// unread is what the model has not seen of the output.
	unread *excerpt.Text
	// wait is the call that waits for output, nil without one.
	wait *outputWait
	// result is how it ended; it stays until the model has read the rest.
	result *ToolResult
}

// outputWait is a call that waits for output of a terminal until its timer fires. One whose files
// are watched has no timer: it ends with the word of what was changed, so that no other call
// writes meanwhile.
type outputWait struct {
	call  *toolCall
	timer EffectID
	began time.Time
	// keep is how many bytes of output the model wants.
	keep int
	// stdin is the effect that hands over what it types, 0 once that is done; watched is
	// set where it watches, too.
	stdin   EffectID
	watched bool
}

const (
	// maxTerminals is how many commands of a thread may run at a time, and how many that
	// have ended are kept for the model to read.
	maxTerminals = 64
)

// WriteStdin types on the terminal of a command, if there is a text. With Track it lasts for
// Watch, and its end tells what was changed.
type WriteStdin struct {
	ID      EffectID
	TurnID  string
	Command EffectID
	Text    string
	Track   *Track
	Watch   time.Duration
}

func (WriteStdin) effect() {}

// StdinWritten ends a WriteStdin. Err says why nothing was typed.
type StdinWritten struct {
	Effect  EffectID
	Err     error
	Tracked *Tracked
}

func (in StdinWritten) apply(s *step) { s.stdinWritten(in) }

// terminalOfEffect is the terminal that an effect runs, nil where it runs none.
func (t *Thread) terminalOfEffect(id EffectID) *terminal {
	for _, term := range t.terminals {
		if term.effect == id && term.result == nil {
			return term
		}
	}
	return nil
}

// terminalByID is the terminal with the id.
func (t *Thread) terminalByID(id string) *terminal {
	for _, term := range t.terminals {
		if term.id == id {
			return term
		}
	}
	return nil
}

// liveTerminals are those whose commands run, the oldest first.
func (t *Thread) liveTerminals() []*terminal {
	return slices.DeleteFunc(slices.Clone(t.terminals), func(term *terminal) bool { return term.result != nil })
}

// HasTerminals tells whether commands run in the background.
func (t *Thread) HasTerminals() bool { return len(t.liveTerminals()) > 0 }

// openTerminal runs a call's command on a terminal.
func (s *step) openTerminal(c *toolCall) {
	wish := c.command.Terminal
	c.state, c.effect = callRunning, s.newEffect()
	s.active.toolEffects = append(s.active.toolEffects, c.effect)
	term := &terminal{id: c.session, effect: c.effect, turnID: s.active.id, itemID: c.call.ID, command: c.command, item: c.item, writes: s.mayWrite(c.command), unread: &excerpt.Text{Limit: toolspec.MaxOutput}}
	track := s.trackCommand(c.command)
	s.terminals = append(s.terminals, term)
	s.effect(RunTool{ID: c.effect, TurnID: s.active.id, Command: Command{
		Argv: c.command.Argv, Cwd: c.command.Cwd, Sandbox: s.sandboxOf(c.command), Workspace: s.settings.Cwd,
		Environment: s.active.env.Environment, Stays: true, TTY: wish.TTY}, Track: track, Watch: wish.Wait})
	s.startWait(term, c, wish.Keep)
	if track == nil {
		s.startWaitTimer(term.wait, wish.Wait)
	}
}

// startWait has a call wait for the terminal's output.
func (s *step) startWait(term *terminal, c *toolCall, keep int) {
	c.state = callRunning
	term.wait = &outputWait{call: c, began: s.Now, keep: keep}
}

// startWaitTimer starts the timer of a look.
func (s *step) startWaitTimer(l *outputWait, wait time.Duration) {
	l.timer = s.newEffect()
	s.effect(Timer{ID: l.timer, Delay: wait})
}

// inFirstCall tells whether the call that began the terminal waits for it still: the model was
// not told that it goes on.
func (term *terminal) inFirstCall() bool {
	return term.wait != nil && term.wait.call.effect == term.effect
}

// updateTerminalItem is show for terminals, whose first call may have been answered.
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

// limitOutput returns what is sent to clients of a piece: the piece, the notice that there are no more
// of them, or nothing.
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

// waitTimerFired answers a call whose time is over. The command goes on.
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

// completeWait gives the call that waits what the model has not read.
func (s *step) completeWait(term *terminal, how string) {
	l, output := term.wait, term.unread.String()
	term.wait, term.unread = nil, &excerpt.Text{Limit: toolspec.MaxOutput}
	s.completeCall(l.call, terminalOutputText(s.Now.Sub(l.began), how, output, l.keep))
}

// terminalOutputText is what a call gives, in the form of the reference implementation. Output that
// is at its limit is cut already.
func terminalOutputText(took time.Duration, how, output string, keep int) string {
	if keep < toolspec.MaxOutput {
		kept := excerpt.Text{Limit: keep}
		kept.Write(output)
		output = kept.String()
	}
	return fmt.Sprintf("Wall time: %.4f seconds\n%s\nOutput:\n%s", took.Seconds(), how, output)
}

// terminalDone ends the item of a terminal that went on, and answers the call that waits
// for it. What no call waits for stays to be read.
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
		s.effect(Cancel{term.wait.stdin}) // its end answers
		return
	}
	s.stopWaitTimer(term)
	s.completeEnded(term)
	s.advance()
}

// hasTurnOf is false where the turn of a terminal was taken back.
func (s *step) hasTurnOf(term *terminal) bool {
	_, known := s.turnAt[term.turnID]
	return known
}

// completeEnded answers the call that waits for a terminal that has ended, with which that is
// done.
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

// evictTerminals lets the oldest go that have ended and were not read.
func (s *step) evictTerminals() {
	for n := len(s.terminals) - len(s.liveTerminals()); n > maxTerminals; n-- {
		i := slices.IndexFunc(s.terminals, func(term *terminal) bool { return term.result != nil })
		s.terminals = slices.Delete(s.terminals, i, i+1)
	}
}

// stopWaitTimer stops the timer of the call that waits.
func (s *step) stopWaitTimer(term *terminal) {
	if term.wait.timer != 0 {
		s.effect(Cancel{term.wait.timer})
		term.wait.timer = 0
	}
}

// cancelWaits ends what a turn that is interrupted waits for: commands that the model was
// not told to go on end with it, others do not.
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
