package core

import (
	"fmt"
	"slices"
	"time"

	"appserver/core/pure/toolspec"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// maxTerminals bounds the running commands of a thread, and the ended ones that wait to be read.
const maxTerminals = 64

// openTerminal runs the command of a call on a terminal.
func (s *step) openTerminal(c *toolCall, command *shellCommand) {
	wish := command.Terminal
	term := &terminal{
		id:      c.session,
		effect:  s.runCall(c),
		turnID:  s.active.id,
		itemID:  c.call.ID,
		command: command,
		item:    c.item,
		writes:  s.mayWrite(command),
		unread:  &excerpt.Text{Limit: toolspec.MaxOutput},
	}
	track := s.trackCommand(command)
	s.terminals = append(s.terminals, term)
	s.effect(RunTool{ID: c.effect, TurnID: s.active.id, Command: Command{
		Argv: s.argvOf(command), Cwd: command.Cwd, Sandbox: s.sandboxOf(command), Access: s.access(command),
		Unconfined: !s.active.env.Enforced,
		Workspace:  s.state.Settings.Cwd, Environment: s.active.env.Environment, Stays: true, TTY: wish.TTY},
		Track: track, Watch: wish.Wait})
	s.startWait(term, c, wish.Keep)
	if track == nil {
		s.startWaitTimer(term.wait, wish.Wait)
	}
}

// startWait makes a call wait for output of a terminal. The effect of the call stays: that of the command for its first
// call, and none for later ones.
func (s *step) startWait(term *terminal, c *toolCall, keep int) {
	c.becomeRunning(c.effect)
	term.wait = &outputWait{call: c, began: s.Now, keep: keep}
}

func (s *step) startWaitTimer(l *outputWait, wait time.Duration) {
	l.timer = s.newEffect()
	s.effect(Timer{ID: l.timer, Delay: wait})
}

// updateTerminalItem does the same as updateCommandItem, for terminals. Their first call may be
// done.
func (s *step) updateTerminalItem(term *terminal) *protocol.CommandExecutionItem {
	if term.inFirstCall() {
		item := s.updateCommandItem(term.wait.call, term.command, protocol.SourceStartup, &term.id)
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
		s.notifyOutput(term.turnID, term.itemID, term.command, term.limitOutput(text))
	}
}

// waitTimerFired completes a call whose time is over.
func (s *step) waitTimerFired(timer EffectID) {
	for _, term := range s.terminals {
		if term.wait != nil && term.wait.timer == timer {
			s.endWait(term)
			return
		}
	}
}

// endWait completes the waiting call with the output so far, and starts the next calls. The command continues.
func (s *step) endWait(term *terminal) {
	s.updateTerminalItem(term)
	s.endToolEffect(term.effect)
	s.completeWait(term, fmt.Sprintf("Process running with session ID %s", term.id))
	s.advance()
}

// completeWait completes the waiting call with the unread output.
func (s *step) completeWait(term *terminal, how string) {
	l, output := term.wait, term.unread.String()
	term.wait, term.unread = nil, &excerpt.Text{Limit: toolspec.MaxOutput}
	s.completeCall(l.call, terminalOutputText(s.Now.Sub(l.began), how, output, l.keep))
}

// terminalDone completes the item and the waiting call. Output that no call waits for can still be
// read.
func (s *step) terminalDone(term *terminal, r ToolResult) {
	term.result = &r
	if s.isIdle() {
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
		return // the end of the WriteStdin completes the call
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
