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
	// look is the call that waits for output, nil without one.
	look *look
	// result is how it ended; it stays until the model has read the rest.
	result *ToolResult
}

// look is a call that waits for output of a terminal until its timer fires. One whose files
// are watched has no timer: it ends with the word of what was changed, so that no other call
// writes meanwhile.
type look struct {
	call  *toolCall
	timer EffectID
	began time.Time
	// keep is how many bytes of output the model wants.
	keep int
	// typing is the effect that hands over what it types, 0 once that is done; watched is
	// set where it watches, too.
	typing  EffectID
	watched bool
}

const (
	// maxTerminals is how many commands of a thread may run at a time, and how many that
	// have ended are kept for the model to read.
	maxTerminals = 64
)

// TypeKeys types on the terminal of a command, if there is a text. With Track it lasts for
// Watch, and its end tells what was changed.
type TypeKeys struct {
	ID      EffectID
	TurnID  string
	Command EffectID
	Text    string
	Track   *Track
	Watch   time.Duration
}

func (TypeKeys) effect() {}

// KeysTyped ends a TypeKeys. Err says why nothing was typed.
type KeysTyped struct {
	Effect  EffectID
	Err     error
	Tracked *Tracked
}

func (in KeysTyped) apply(s *step) { s.keysTyped(in) }

// terminalOf is the terminal that an effect runs, nil where it runs none.
func (t *Thread) terminalOf(id EffectID) *terminal {
	for _, term := range t.terminals {
		if term.effect == id && term.result == nil {
			return term
		}
	}
	return nil
}

// terminalNamed is the terminal with the id.
func (t *Thread) terminalNamed(id string) *terminal {
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
	s.active.commands = append(s.active.commands, c.effect)
	term := &terminal{id: c.session, effect: c.effect, turnID: s.active.id, itemID: c.call.ID, command: c.command, item: c.item, writes: s.mayChange(c.command), unread: &excerpt.Text{Limit: toolspec.MaxOutput}}
	track := s.trackCommand(c.command)
	s.terminals = append(s.terminals, term)
	s.effect(RunTool{ID: c.effect, TurnID: s.active.id, Command: Command{
		Argv: c.command.Argv, Cwd: c.command.Cwd, Sandbox: s.sandboxOf(c.command), Workspace: s.settings.Cwd,
		Environment: s.active.world.Environment, Stays: true, TTY: wish.TTY}, Track: track, Watch: wish.Wait})
	s.lookAt(term, c, wish.Keep)
	if track == nil {
		s.lookFor(term.look, wish.Wait)
	}
}

// lookAt has a call wait for the terminal's output.
func (s *step) lookAt(term *terminal, c *toolCall, keep int) {
	c.state = callRunning
	term.look = &look{call: c, began: s.Now, keep: keep}
}

// lookFor starts the timer of a look.
func (s *step) lookFor(l *look, wait time.Duration) {
	l.timer = s.newEffect()
	s.effect(Timer{ID: l.timer, Delay: wait})
}

// isNew tells whether the call that began the terminal waits for it still: the model was
// not told that it goes on.
func (term *terminal) isNew() bool { return term.look != nil && term.look.call.effect == term.effect }

// showTerminal is show for terminals, whose first call may have been answered.
func (s *step) showTerminal(term *terminal) *protocol.CommandExecutionItem {
	if term.isNew() {
		item := s.show(term.look.call, protocol.SourceStartup, &term.id)
		term.item = term.look.call.item
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
	if s.knows(term) {
		s.showTerminal(term)
		s.tellOutput(term.turnID, term.itemID, term.within(text))
	}
}

// within returns what is sent to clients of a piece: the piece, the notice that there are no more
// of them, or nothing.
func (term *terminal) within(text string) string {
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

// lookEnds answers a call whose time is over. The command goes on.
func (s *step) lookEnds(timer EffectID) {
	for _, term := range s.terminals {
		if term.look != nil && term.look.timer == timer {
			s.lookIsOver(term)
			return
		}
	}
}

func (s *step) lookIsOver(term *terminal) {
	s.showTerminal(term)
	ended(&s.active.commands, term.effect)
	s.answerLook(term, fmt.Sprintf("Process running with session ID %s", term.id))
	s.advance()
}

// answerLook gives the call that waits what the model has not read.
func (s *step) answerLook(term *terminal, how string) {
	l, output := term.look, term.unread.String()
	term.look, term.unread = nil, &excerpt.Text{Limit: toolspec.MaxOutput}
	s.answer(l.call, lookText(s.Now.Sub(l.began), how, output, l.keep))
}

// lookText is what a call gives, in the form of the reference implementation. Output that
// is at its limit is cut already.
func lookText(took time.Duration, how, output string, keep int) string {
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
		s.settleLastTurn()
	}
	if s.knows(term) {
		endItem(s.showTerminal(term), r)
		s.completedIn(term.turnID, term.item, term.command.Argv)
	}
	if term.look == nil {
		s.forgetTerminals()
		return
	}
	if term.look.watched {
		s.effect(Cancel{term.look.typing}) // its end answers
		return
	}
	s.stopLook(term)
	s.readRest(term)
	s.advance()
}

// knows is false where the turn of a terminal was taken back.
func (s *step) knows(term *terminal) bool {
	_, known := s.turnAt[term.turnID]
	return known
}

// readRest answers the call that waits for a terminal that has ended, with which that is
// done.
func (s *step) readRest(term *terminal) {
	s.drop(term)
	s.answerLook(term, exitText(*term.result))
}

func exitText(r ToolResult) string {
	if r.ExitCode != nil {
		return fmt.Sprintf("Process exited with code %d", *r.ExitCode)
	}
	return "Process ended: " + r.Failure
}

func (s *step) drop(term *terminal) {
	s.terminals = slices.DeleteFunc(s.terminals, func(other *terminal) bool { return other == term })
}

// forgetTerminals lets the oldest go that have ended and were not read.
func (s *step) forgetTerminals() {
	for n := len(s.terminals) - len(s.liveTerminals()); n > maxTerminals; n-- {
		i := slices.IndexFunc(s.terminals, func(term *terminal) bool { return term.result != nil })
		s.terminals = slices.Delete(s.terminals, i, i+1)
	}
}

// stopLook stops the timer of the call that waits.
func (s *step) stopLook(term *terminal) {
	if term.look.timer != 0 {
		s.effect(Cancel{term.look.timer})
		term.look.timer = 0
	}
}

// leaveLooks ends what a turn that is interrupted waits for: commands that the model was
// not told to go on end with it, others do not.
func (s *step) leaveLooks() {
	for _, term := range s.liveTerminals() {
		l := term.look
		if l == nil {
			continue
		}
		s.stopLook(term)
		if !term.isNew() {
			term.look = nil
			s.answer(l.call, abortedOutputText)
		}
	}
}
