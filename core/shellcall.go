package core

import (
	"cmp"
	"fmt"

	"appserver/core/pure/command"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

func shellTool() builtInTool {
	return builtInTool{
		name:    toolspec.Shell,
		spec:    func(*Thread) ToolSpec { return toolspec.ShellSpec() },
		offered: func(t *Thread) bool { return !t.capabilities.Limits.NoShell },
		decode:  decodeShell, asks: true, early: true,
	}
}

func execTool() builtInTool {
	return builtInTool{
		name:    toolspec.ExecCommand,
		spec:    func(*Thread) ToolSpec { return toolspec.ExecSpec },
		offered: func(t *Thread) bool { return t.capabilities.Terminals && !t.capabilities.Limits.NoShell },
		decode:  decodeShell, asks: true, early: true,
	}
}

const noShellText = "This command was not run: the configuration turns the shell off (features.shell_tool). " +
	"Continue without commands."

// decodeShell decodes a call of a tool that runs commands. The programs apply_patch and recall are tools of the server.
func decodeShell(s *step, c *toolCall) (callKind, error) {
	command, err := s.parseCommand(c)
	if s.capabilities.Limits.NoShell {
		return &textCall{text: noShellText, reads: err == nil && s.readsOnly(command)}, nil
	}
	if err != nil {
		return nil, err
	}
	if text := s.refusedByRole(command); text != "" {
		return &textCall{text: text, reads: true}, nil
	}
	switch p := patchIn(command); {
	case p != nil && s.reviewing() != nil:
		return &textCall{text: "The patch was not applied: a review cannot change files. Report the finding instead."}, nil
	case p != nil:
		return p, nil
	}
	if a, recalls := s.recallInShell(command); recalls {
		return &recallCall{RecallCall: a}, nil
	}
	return &commandCall{command}, nil
}

// parseCommand decodes the arguments of a tool that runs commands.
func (s *step) parseCommand(c *toolCall) (*shellCommand, error) {
	parse := toolspec.ParseShell
	if s.capabilities.Terminals && c.call.Name == toolspec.ExecCommand && s.reviewing() == nil {
		parse = toolspec.ParseExec
	}
	command, err := parse(c.call.Arguments, s.state.Settings.Cwd, s.active.env.Shell)
	if err != nil {
		return nil, err
	}
	if s.capabilities.Limits.NoLogin {
		command.Argv = command.WithoutLogin()
	}
	return &shellCommand{Command: *command}, nil
}

// readsOnly reports whether a command can run beside other calls.
func (s *step) readsOnly(c *shellCommand) bool {
	if c.Escalates || patchIn(c) != nil || s.ruleFor(c).Decision != toolspec.RuleAllows {
		return false
	}
	if _, recalls := s.recallInShell(c); recalls {
		return false
	}
	return c.Reads() || !s.mayWrite(c) && !s.asksOutside()
}

// commandCall is a call that runs a command.
type commandCall struct{ *shellCommand }

func (k *commandCall) readsOnly(s *step) bool { return s.readsOnly(k.shellCommand) }

func (k *commandCall) start(s *step, c *toolCall) {
	if k.Terminal != nil && len(s.liveTerminals()) >= maxTerminals {
		s.completeCall(c, fmt.Sprintf("%d commands run in the background, and no more can. "+
			"End one of the sessions first: %s.",
			maxTerminals, s.sessionList()))
		return
	}
	k.outside = s.isApproved(k.Key(true))
	verdict := s.verdict(k.shellCommand)
	if !k.forbidden() {
		verdict = c.verdict(verdict)
	}
	switch verdict {
	case toolspec.Run:
		k.run(s, c)
	case toolspec.Ask:
		if c.again != nil && c.again.Denied != nil {
			k.askToEscalate(s, c, resultOfDenial(c.again.Denied))
			return
		}
		k.Reason = cmp.Or(k.Reason, k.dangerReason(), k.ruleReason())
		s.requestApproval(c, k)
		s.warnUnconfined()
	default:
		k.decline(s, c, s.refusalText(k.shellCommand))
		s.warnUnconfined()
	}
}

func (k *commandCall) run(s *step, c *toolCall) {
	if s.mayWrite(k.shellCommand) && s.holdForCapture(c, k) {
		return
	}
	if k.Terminal != nil {
		s.openTerminal(c, k.shellCommand)
		return
	}
	s.effect(RunTool{ID: s.runCall(c), TurnID: s.active.id, Command: Command{
		Argv: s.argvOf(k.shellCommand), Cwd: k.Cwd, Timeout: k.Timeout,
		Sandbox: s.sandboxOf(k.shellCommand), Access: s.access(k.shellCommand), Unconfined: !s.active.env.Enforced,
		Workspace: s.state.Settings.Cwd, Environment: s.active.env.Environment}, Track: s.trackCommand(k.shellCommand)})
}

// argvOf returns the arguments with which a command runs. Its shell reads no profile if the policy says so.
func (s *step) argvOf(c *shellCommand) []string {
	if s.active.env.Environment.NoProfile {
		return command.WithoutLogin(c.Argv)
	}
	return c.Argv
}

func (k *commandCall) resume(s *step, c *toolCall) { k.run(s, c) }

func (k *commandCall) abort(s *step, c *toolCall) {
	if c.item != nil {
		k.decline(s, c, abortedOutputText)
	}
}

// askToEscalate asks the client whether a denied command may run again outside of the sandbox.
func (k *commandCall) askToEscalate(s *step, c *toolCall, r ToolResult) {
	k.denied = &r
	k.Reason = "The command failed, probably because of the sandbox. Run it again outside of the sandbox?"
	s.requestApproval(c, k)
}

func (k *commandCall) show(s *step, c *toolCall) {
	s.updateCommandItem(c, k.shellCommand, protocol.SourceAgent, nil)
}

func (k *commandCall) request(t *Thread, c *toolCall) Request {
	item := c.item.ThreadItemVariant.(*protocol.CommandExecutionItem)
	return Request{
		ID:     c.request,
		Method: protocol.MethodCommandApproval,
		Params: protocol.CommandExecutionRequestApprovalParams{
			Kind: "command", ThreadID: t.state.ID, TurnID: t.active.id, ItemID: c.call.ID, StartedAtMs: *c.item.StartedAtMs,
			Reason: protocol.OrNil(k.Reason), Command: item.Command, Cwd: item.Cwd, CommandActions: item.CommandActions,
			AvailableDecisions: offeredDecisions,
		},
	}
}

func (k *commandCall) answer(s *step, c *toolCall, in ClientAnswer) {
	word, remark := decision(c, in, true)
	s.decide(c, k, word, remark)
}

func (k *commandCall) waitFlag() string { return protocol.FlagWaitingOnApproval }

// approvalKeys returns the keys that acceptForSession adds.
func (k *commandCall) approvalKeys(s *step) []string {
	if s.escalatesIfAccepted(k.shellCommand) {
		return []string{k.Key(true)}
	}
	return []string{k.key()}
}

func (k *commandCall) notDoneText() string { return "It was not run" + k.notRunText() }

func (k *commandCall) accept(s *step, c *toolCall) {
	k.accepted, k.outside = true, s.escalatesIfAccepted(k.shellCommand)
	k.run(s, c)
}

// decline keeps the result of a command that ran in the sandbox.
func (k *commandCall) decline(s *step, c *toolCall, reason string) {
	if k.denied != nil {
		k.complete(s, c, *k.denied, "\n"+reason)
		return
	}
	item := s.updateCommandItem(c, k.shellCommand, protocol.SourceAgent, nil)
	item.Status = protocol.CommandDeclined
	s.completeItem(c.item, k.Argv)
	s.completeCall(c, reason)
}

// complete ends a command that ran. The model gets its result and the suffix.
func (k *commandCall) complete(s *step, c *toolCall, r ToolResult, rest string) {
	setResult(s.updateCommandItem(c, k.shellCommand, protocol.SourceStartup, k.processID(c)), r)
	s.completeItem(c.item, k.Argv)
	s.completeCall(c, k.resultText(r)+rest)
}

// processID returns the id of a terminal, or nil. Other commands have an id of the operating system.
func (k *commandCall) processID(c *toolCall) *string {
	if k.Terminal == nil {
		return nil
	}
	return &c.session
}

func (k *commandCall) storeWait(w *protocol.StoredWait) { w.Denied = k.storedDenial() }
