package core

import (
	"fmt"
	"slices"
	"time"

	"appserver/core/command"
	"appserver/core/history"
	"appserver/core/toolspec"
	"appserver/protocol"
)

// RunOwnCommand runs a command of the user's own, outside of the sandbox: in the turn
// under way, or in one of its own.
type RunOwnCommand struct {
	To      protocol.Caller
	Script  string
	Timeout time.Duration
	World   World
}

func (in RunOwnCommand) apply(s *step) { s.runOwnCommand(in) }

// ownCommand is one that runs.
type ownCommand struct {
	effect  EffectID
	command *shellCommand
	item    *protocol.ThreadItem
}

func (s *step) runOwnCommand(in RunOwnCommand) {
	s.releaseTurn()
	if s.active != nil && s.active.interrupted() {
		s.waiting = append(s.waiting, waiter{in.To, in})
		return
	}
	begins := s.active == nil
	if begins {
		s.beginQuietTurn(in.World)
	}
	s.active.notBefore = later(s.active.notBefore, s.Now.Add(s.options.CompletedFloor))
	s.reply(in.To, protocol.Empty{})
	if begins {
		s.notifyStatus()
		s.notify(protocol.TurnStartedNotification{ThreadID: s.id, Turn: s.startedTurn()})
	}
	s.startOwn(in)
}

// beginQuietTurn begins a turn that does not ask the model.
func (s *step) beginQuietTurn(w World) {
	s.settleLastTurn()
	s.discardDraft(errDraftExpired())
	s.failed = false
	s.active = &turn{id: s.NewID(), startedAt: s.Now, world: w, quiet: true}
	s.recordBegin(nil)
	s.out.Sync = true
}

func (s *step) startOwn(in RunOwnCommand) {
	c := &shellCommand{Command: toolspec.Command{
		Script: in.Script, Argv: []string{s.active.world.Shell, "-lc", in.Script}, Cwd: s.settings.Cwd, Timeout: in.Timeout}}
	o := &ownCommand{effect: s.newEffect(), command: c}
	o.item = s.openItem(&protocol.CommandExecutionItem{
		ID: s.NewID(), Command: command.Quote(c.Argv), Cwd: c.Cwd, Source: protocol.SourceUser,
		Status: protocol.CommandInProgress, CommandActions: c.Actions(),
	}, s.Now)
	s.active.own = append(s.active.own, o)
	s.active.commands = append(s.active.commands, o.effect)
	s.started(o.item)
	s.effect(RunTool{ID: o.effect, TurnID: s.active.id, Command: Command{
		Argv: c.Argv, Cwd: c.Cwd, Timeout: c.Timeout, Sandbox: protocol.SandboxDangerFullAccess.Policy(), Workspace: s.settings.Cwd,
		Environment: s.active.world.Environment}})
}

func (s *step) cancelOwn() {
	for _, o := range s.active.own {
		s.effect(Cancel{o.effect})
	}
}

// wake makes a quiet turn one that asks the model, once the user's commands have ended.
func (s *step) wake(next Settings, w World) {
	t := s.active
	t.quiet, t.owed, t.world = false, len(t.own) > 0, w
	s.applyEnv(w)
	s.learn(w.Tools)
	s.changeSettings(next, t.id)
	s.appendNotices(w)
	s.beginCheckpoint()
}

// ownCommand is the user's command that an effect runs, nil where it runs none.
func (s *step) ownCommand(id EffectID) *ownCommand {
	if s.active == nil {
		return nil
	}
	for _, o := range s.active.own {
		if o.effect == id {
			return o
		}
	}
	return nil
}

// ownDone shows what came of the user's command, and tells the model.
func (s *step) ownDone(o *ownCommand, r ToolResult) {
	t := s.active
	t.own = slices.DeleteFunc(t.own, func(other *ownCommand) bool { return other == o })
	ended(&t.commands, o.effect)
	item := *o.item.ThreadItemVariant.(*protocol.CommandExecutionItem)
	endItem(&item, r)
	o.item.ThreadItemVariant = &item
	s.completed(o.item, o.command.Argv)
	told := history.UserMessage(ownText(o.command.Script, r))
	told.ID = "msg_" + s.NewID()
	s.itemOfThread(told)
	switch {
	case t.outcome != nil:
		s.finishWhenDone()
	case len(t.own) > 0:
	case t.quiet:
		s.conclude(protocol.TurnCompleted, nil)
	case t.owed:
		t.owed = false
		s.sample()
	}
}

// history.ShellTag begins what the model reads of a command of the user's own.

// ownText is what the model reads of a command of the user's own, in the form of the
// reference implementation.
func ownText(script string, r ToolResult) string {
	how := "The command did not finish: " + r.Failure
	switch {
	case r.TimedOut:
		how = "The command was ended: it took longer than its timeout."
	case r.ExitCode != nil:
		how = fmt.Sprintf("Exit code: %d", *r.ExitCode)
	}
	return fmt.Sprintf(history.ShellTag+"\n<command>\n%s\n</command>\n<result>\n%s\nDuration: %.4f seconds\nOutput:\n%s\n</result>\n</user_shell_command>",
		script, how, r.Duration.Seconds(), r.Output)
}
