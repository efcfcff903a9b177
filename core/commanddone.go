package core

import "appserver/protocol"

// ToolStarted reports that a command runs.
type ToolStarted struct {
	Effect    EffectID
	ProcessID string
}

func (in ToolStarted) apply(s *step) { s.toolStarted(in) }

// ToolOutput is a piece of a command's output.
type ToolOutput struct {
	Effect EffectID
	Text   string
}

func (in ToolOutput) apply(s *step) { s.toolOutput(in) }

// ToolDone ends a RunTool.
type ToolDone struct {
	Effect  EffectID
	Result  ToolResult
	Tracked *Tracked
}

func (in ToolDone) apply(s *step) { s.toolDone(in) }

// FilesChanged has the changes of a background command while it was watched. It ends the wait of
// its first call.
type FilesChanged struct {
	Effect  EffectID
	Tracked *Tracked
}

func (in FilesChanged) apply(s *step) { s.filesChanged(in) }

func (s *step) toolStarted(in ToolStarted) {
	if term := s.terminalOfEffect(in.Effect); term != nil {
		term.pid = in.ProcessID
		s.updateTerminalItem(term)
		return
	}
	if c, k := runningCallOf[*commandCall](s, in.Effect); c != nil {
		s.updateCommandItem(c, k.shellCommand, protocol.SourceStartup, &in.ProcessID)
	}
}

func (s *step) toolOutput(in ToolOutput) {
	if o := s.userCommandOf(in.Effect); o != nil {
		s.notifyOutput(s.active.id, o.item.ItemID(), o.command, in.Text)
		return
	}
	if term := s.terminalOfEffect(in.Effect); term != nil {
		s.terminalOutput(term, in.Text)
		return
	}
	c, k := runningCallOf[*commandCall](s, in.Effect)
	if c == nil || in.Text == "" {
		return
	}
	s.updateCommandItem(c, k.shellCommand, protocol.SourceStartup, nil)
	s.notifyOutput(s.active.id, c.call.ID, k.shellCommand, in.Text)
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
	c, k := endedCall[*commandCall](s, in.Effect)
	if c == nil {
		return
	}
	if s.isSandboxDenial(k.shellCommand, in.Result) {
		s.recordChanges(in.Tracked)
		k.askToEscalate(s, c, in.Result)
		return
	}
	k.complete(s, c, in.Result, "")
	s.recordChanges(in.Tracked)
	s.effectOfCallEnded()
}

func (s *step) filesChanged(in FilesChanged) {
	term := s.terminalOfEffect(in.Effect)
	if term == nil {
		return
	}
	s.recordChangesOf(term.turnID, in.Tracked)
	if term.inFirstCall() && !s.isEnding() {
		s.stopWaitTimer(term)
		s.endWait(term)
	}
}
