package core

import "appserver/protocol"

func (in ToolStarted) apply(s *step) { s.toolStarted(in) }

func (in ToolOutput) apply(s *step) { s.toolOutput(in) }

func (in ToolDone) apply(s *step) { s.toolDone(in) }

func (in FilesChanged) apply(s *step) { s.filesChanged(in) }

func (s *step) toolStarted(in ToolStarted) {
	if term := s.terminalOfEffect(in.Effect); term != nil {
		term.pid = in.ProcessID
		s.updateTerminalItem(term)
		return
	}
	if c := s.runningCall(in.Effect); c != nil {
		s.updateCommandItem(c, protocol.SourceStartup, &in.ProcessID)
	}
}

func (s *step) toolOutput(in ToolOutput) {
	if o := s.userCommandOf(in.Effect); o != nil {
		s.notifyOutput(s.active.id, o.item.ItemID(), in.Text)
		return
	}
	if term := s.terminalOfEffect(in.Effect); term != nil {
		s.terminalOutput(term, in.Text)
		return
	}
	c := s.runningCall(in.Effect)
	if c == nil || in.Text == "" {
		return
	}
	s.updateCommandItem(c, protocol.SourceStartup, nil)
	s.notifyOutput(s.active.id, c.call.ID, in.Text)
}

func (s *step) toolDone(in ToolDone) {
	s.warn(in.Result.Warnings)
	if o := s.userCommandOf(in.Effect); o != nil {
		s.userCommandDone(o, in.Result)
		return
	}
	if term := s.terminalOfEffect(in.Effect); term != nil && !term.inFirstCall() {
		s.recordChangesOf(term.turnID, in.Tracked)
		s.terminalDone(term, in.Result)
		return
	} else if term != nil {
		s.stopWaitTimer(term)
		s.removeTerminal(term)
	}
	c := s.runningCall(in.Effect)
	if c == nil || !removeEffect(&s.active.toolEffects, in.Effect) {
		return
	}
	if s.isSandboxDenial(c.command, in.Result) {
		s.recordChanges(in.Tracked)
		s.askToEscalate(c, in.Result)
		return
	}
	s.completeCommand(c, in.Result, "")
	s.recordChanges(in.Tracked)
	if s.active.outcome != nil {
		s.completeWhenIdle()
		return
	}
	s.advance()
}

// askToEscalate asks the client whether a denied command may run again outside of the sandbox.
func (s *step) askToEscalate(c *toolCall, r ToolResult) {
	c.command.denied = &r
	c.command.Reason = "The command failed, probably because of the sandbox. Run it again outside of the sandbox?"
	s.requestApproval(c)
}

func (s *step) filesChanged(in FilesChanged) {
	term := s.terminalOfEffect(in.Effect)
	if term == nil {
		return
	}
	s.recordChangesOf(term.turnID, in.Tracked)
	if term.inFirstCall() && s.active.outcome == nil {
		s.stopWaitTimer(term)
		s.endWait(term)
	}
}
