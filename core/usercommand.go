package core

import (
	"fmt"
	"slices"
	"time"

	"appserver/core/pure/command"
	"appserver/core/pure/history"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// RunUserCommand runs a command of the user outside of the sandbox: in the active turn, or in a new
// one.
type RunUserCommand struct {
	To      protocol.Caller
	Script  string
	Timeout time.Duration
	Env     TurnEnv
}

func (in RunUserCommand) apply(s *step) { s.runUserCommand(in) }

func (s *step) runUserCommand(in RunUserCommand) {
	s.completePendingTurn()
	if s.isInterrupted() {
		s.waiting = append(s.waiting, waiter{in.To, in})
		return
	}
	begins := s.isIdle()
	if begins {
		s.beginShellTurn(in.Env)
	}
	s.active.notBefore = later(s.active.notBefore, s.Now.Add(s.options.CompletedFloor))
	s.reply(in.To, protocol.Empty{})
	if begins {
		s.notifyStatus()
		s.notify(protocol.TurnStartedNotification{ThreadID: s.state.ID, Turn: s.activeTurnView()})
	}
	s.startUserCommand(in)
}

// beginShellTurn begins a turn without a model request.
func (s *step) beginShellTurn(env TurnEnv) {
	s.endDanglingTurn()
	s.discardDraft(errDraftExpired())
	s.failed = false
	s.becomeShell(&turn{id: s.NewID(), startedAt: s.Now, env: env, kind: shellTurn})
	s.recordBegin(nil)
	s.out.Sync = true
}

func (s *step) startUserCommand(in RunUserCommand) {
	c := &shellCommand{Command: toolspec.Command{
		Script: in.Script, Argv: command.Invocation(s.active.env.Shell, in.Script, true), Cwd: s.state.Settings.Cwd,
		Timeout: in.Timeout}}
	o := &userCommand{effect: s.newEffect(), command: c}
	o.item = s.newItem(&protocol.CommandExecutionItem{
		ID: s.NewID(), Command: command.Quote(c.Argv), Cwd: c.Cwd, Source: protocol.SourceUser,
		Status: protocol.CommandInProgress, CommandActions: c.Actions(),
	}, s.Now)
	s.active.userCommands = append(s.active.userCommands, o)
	s.active.toolEffects = append(s.active.toolEffects, o.effect)
	s.notifyStarted(o.item)
	s.effect(RunTool{ID: o.effect, TurnID: s.active.id, Command: Command{
		Argv: c.Argv, Cwd: c.Cwd, Timeout: c.Timeout,
		Sandbox: protocol.SandboxDangerFullAccess.Policy(), Workspace: s.state.Settings.Cwd,
		Environment: s.active.env.Environment}})
}

func (s *step) cancelUserCommands() {
	for _, o := range s.active.userCommands {
		s.effect(Cancel{o.effect})
	}
}

// convertToModelTurn prepares a shell-only turn for model requests. The first one waits for the
// commands of the user.
func (s *step) convertToModelTurn(next Settings, env TurnEnv) {
	t := s.active
	t.kind, t.env = modelTurn, env
	if !s.isEnding() {
		s.becomeAwaitingShell()
	}
	s.applyEnv(env)
	s.setServerTools(env.Tools, env.Provider.ContextWindow)
	s.changeSettings(next, t.id)
	s.appendNotices(env)
	s.beginCheckpoint()
}

// userCommandOf returns the user's command of an effect, or nil.
func (s *step) userCommandOf(id EffectID) *userCommand {
	if s.isIdle() {
		return nil
	}
	for _, o := range s.active.userCommands {
		if o.effect == id {
			return o
		}
	}
	return nil
}

// userCommandDone completes the item, and adds the command and its result to the context.
func (s *step) userCommandDone(o *userCommand, r ToolResult) {
	t := s.active
	t.userCommands = slices.DeleteFunc(t.userCommands, func(other *userCommand) bool { return other == o })
	s.endToolEffect(o.effect)
	item := *o.item.ThreadItemVariant.(*protocol.CommandExecutionItem)
	setResult(&item, r)
	o.item.ThreadItemVariant = &item
	s.completeItem(o.item, o.command.Argv)
	r.Output = s.limitText(r.Output)
	message := history.UserMessage(userCommandText(o.command.Script, r))
	message.ID = "msg_" + s.NewID()
	s.itemOfThread(message)
	switch {
	case s.isEnding():
		s.completeOnceEnded()
	case len(t.userCommands) > 0:
	case t.state == turnShell:
		s.finishTurn(protocol.TurnCompleted, nil)
	case t.state == turnAwaitingShell:
		s.requestModel()
	}
}

// userCommandText formats a command of the user and its result for the model, in the form of the
// reference implementation.
func userCommandText(script string, r ToolResult) string {
	how := "The command did not finish: " + r.Failure
	switch {
	case r.TimedOut:
		how = "The command was ended: it took longer than its timeout."
	case r.ExitCode != nil:
		how = fmt.Sprintf("Exit code: %d", *r.ExitCode)
	}
	return fmt.Sprintf(
		history.ShellTag+"\n<command>\n%s\n</command>\n"+
			"<result>\n%s\nDuration: %.4f seconds\nOutput:\n%s\n</result>\n</user_shell_command>",
		script,
		how,
		r.Duration.Seconds(),
		r.Output,
	)
}
