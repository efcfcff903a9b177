package core

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"appserver/core/pure/command"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// addCalls records the calls of an answer and starts them.
func (s *step) addCalls(calls []ToolCall) {
	for _, call := range calls {
		call.ID = s.uniqueCallID(call.ID)
		if s.active.toolsEffect == 0 { // all tools are known
			call.Name = s.offeredName(call.Name)
		}
		s.item(s.callItem(&call))
		s.active.calls = append(s.active.calls, &toolCall{call: call, session: strconv.FormatInt(s.state.Next-1, 10)})
	}
	s.advance()
}

// offeredName returns the name of the tool that a model means by a name.
func (s *step) offeredName(name string) string {
	if s.reviewing() != nil {
		return toolspec.OfferedName(name, toolspec.ReviewSpecs())
	}
	return toolspec.OfferedName(name, s.callableTools())
}

// callItem returns the context item of a call.
func (s *step) callItem(call *ToolCall) protocol.ResponseItemVariant {
	if call.Custom {
		return &protocol.CustomToolCall{Status: customDone, CallID: call.ID, Name: call.Name, Input: call.Arguments}
	}
	item := &protocol.FunctionCall{Name: call.Name, Arguments: call.Arguments, CallID: call.ID, Echo: call.Echo}
	if t := s.serverTool(call.Name); t != nil {
		item.Namespace, item.Name = t.RolloutName()
	}
	return item
}

// uniqueCallID replaces an id that is empty or that the thread has. Ids of reviews are always
// replaced, since their calls are not in the thread.
func (s *step) uniqueCallID(id string) string {
	if id != "" && s.reviewing() == nil && !s.context.HasCall(id) {
		return id
	}
	return fmt.Sprintf("call_%s", s.NewID())
}

// advance starts waiting calls: one after the other, or together if they only read. When all calls
// are done, it requests the model again.
func (s *step) advance() {
	t := s.active
	if t.outcome != nil {
		return
	}
	busy, reading := false, true
	for _, c := range t.calls {
		if c.state == callWaiting && !s.mustAwaitTools(c) && (!busy || reading && s.decodeCall(c) && s.readsOnly(c)) {
			s.startCall(c)
		}
		if t.outcome != nil {
			return
		}
		if c.state != callDone {
			busy = true
			reading = reading && s.readsOnly(c) && c.state == callRunning
		}
	}
	if !busy && t.toolsEffect == 0 {
		s.requestModel()
	}
}

// readsOnly reports whether the call can run beside others. It must certainly not write, by its
// text or by the kernel. And the user must not be asked, before it or after it failed.
func (s *step) readsOnly(c *toolCall) bool {
	switch {
	case c.server != nil:
		return c.server.tool.Harmless() && !c.server.tool.Serial
	case c.command == nil:
		return s.viewsImage(c)
	case c.command.Escalates || patchIn(c.command) != nil || s.ruleFor(c.command).Decision != toolspec.RuleAllows:
		return false
	}
	if _, recalls := s.recallInShell(c.command); recalls {
		return false
	}
	return c.command.Reads() || !s.mayWrite(c.command) && !s.asksOutside()
}

// viewsImage reports whether the call is one of view_image.
func (s *step) viewsImage(c *toolCall) bool {
	return c.call.Name == toolspec.ViewImage && s.capabilities.Images && s.reviewing() == nil &&
		s.serverTool(c.call.Name) == nil
}

// decodeCall decodes the arguments of a call that may run beside others. It returns false for other
// tools and for invalid arguments.
func (s *step) decodeCall(c *toolCall) bool {
	if s.viewsImage(c) {
		return true
	}
	if c.command == nil && toolspec.IsShell(c.call.Name) {
		c.command, _ = s.parseCommand(c)
	}
	return c.command != nil || s.decodeServerCall(c)
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

func (s *step) startCall(c *toolCall) {
	c.call.Name = s.offeredName(c.call.Name)
	switch {
	case toolspec.IsShell(c.call.Name) && s.capabilities.Limits.NoShell:
		s.completeCall(c, "This command was not run: the configuration turns the shell off (features.shell_tool). "+
			"Continue without commands.")
	case toolspec.IsShell(c.call.Name):
		s.startShell(c)
	case s.reviewing() != nil:
		s.completeCall(c, fmt.Sprintf("There is no tool %q in a review. Use %s.", c.call.Name, toolspec.Shell))
	case s.serverTool(c.call.Name) != nil:
		s.startServerCall(c)
	case c.call.Name == toolspec.ToolSearch && s.searched.text != "":
		s.completeCall(c, s.findTools(c.call.Arguments))
	case c.call.Name == toolspec.CallTool && s.searched.text != "":
		s.startServerCall(c)
	case c.call.Name == toolspec.ApplyPatch:
		s.startPatch(c)
	case c.call.Name == toolspec.UpdatePlan && !s.capabilities.Limits.NoPlan:
		s.completeCall(c, s.updatePlan(c.call.Arguments))
	case c.call.Name == toolspec.WriteStdin && s.capabilities.Terminals && !s.capabilities.Limits.NoShell:
		s.startStdin(c)
	case c.call.Name == toolspec.ViewImage && s.capabilities.Images:
		s.startViewImage(c)
	case c.call.Name == toolspec.Recall && s.recalls():
		s.startRecall(c)
	case c.call.Name == toolspec.RequestUserInput && (c.again != nil || s.asksUser()):
		s.askQuestions(c)
	case c.call.Name == toolspec.RequestUserInput && s.offersTool(toolspec.RequestUserInput):
		s.completeCall(c, noQuestionsText)
	default:
		s.startOtherCall(c)
	}
}

// startOtherCall starts a call of a client's tool, or rejects an unknown one.
func (s *step) startOtherCall(c *toolCall) {
	if tool := s.clientTool(c.call.Name); tool != nil {
		s.startClientTool(c, tool)
		return
	}
	s.completeCall(c, s.unknownToolText(c.call.Name))
}

// noQuestionsText is the output of request_user_input outside of plan mode.
const noQuestionsText = "The user was not asked: request_user_input is available in plan mode only. " +
	"Decide yourself, or ask in your answer."

func (t *Thread) offersTool(name string) bool {
	return slices.ContainsFunc(t.tools(), func(tool ToolSpec) bool { return tool.Name == name })
}

func (s *step) unknownToolText(name string) string {
	var names []string
	for _, tool := range s.tools() {
		names = append(names, tool.Name)
	}
	if server, removed := s.removedTools[name]; removed {
		return fmt.Sprintf("The MCP server %q does not offer the tool %q any more. Nothing was run. Use one of: %s.",
			server, name, strings.Join(names, ", "))
	}
	return fmt.Sprintf("There is no tool %q. Use one of: %s.", name, strings.Join(names, ", "))
}

func (s *step) startShell(c *toolCall) {
	if !s.decodeCall(c) {
		_, err := s.parseCommand(c)
		s.rejectArguments(c, err)
		return
	}
	if p := patchIn(c.command); p != nil && s.reviewing() != nil {
		s.completeCall(c, "The patch was not applied: a review cannot change files. Report the finding instead.")
		return
	} else if p != nil {
		s.planPatch(c, p)
		return
	}
	if a, recalls := s.recallInShell(c.command); recalls {
		c.command = nil
		s.recall(c, a)
		return
	}
	if c.command.Terminal != nil && len(s.liveTerminals()) >= maxTerminals {
		s.completeCall(c, fmt.Sprintf("%d commands run in the background, and no more can. "+
			"End one of the sessions first: %s.",
			maxTerminals, s.sessionList()))
		return
	}
	c.command.outside = s.isApproved(c.command.Key(true))
	switch s.verdictOf(c, s.verdict(c.command)) {
	case toolspec.Run:
		s.runCommand(c)
	case toolspec.Ask:
		if c.again != nil && c.again.Denied != nil {
			s.askToEscalate(c, resultOfDenial(c.again.Denied))
			return
		}
		c.command.Reason = cmp.Or(c.command.Reason, c.command.dangerReason(), c.command.ruleReason())
		s.requestApproval(c)
		s.warnUnconfined()
	default:
		s.declineCall(c, s.refusalText(c.command))
		s.warnUnconfined()
	}
}

func (s *step) runCommand(c *toolCall) {
	if s.mayWrite(c.command) && s.holdForCapture(c) {
		return
	}
	if c.command.Terminal != nil {
		s.openTerminal(c)
		return
	}
	c.state, c.effect = callRunning, s.newEffect()
	s.active.toolEffects = append(s.active.toolEffects, c.effect)
	s.effect(RunTool{ID: c.effect, TurnID: s.active.id, Command: Command{
		Argv: s.argvOf(c.command), Cwd: c.command.Cwd, Timeout: c.command.Timeout,
		Sandbox: s.sandboxOf(c.command), Access: s.access(c.command), Unconfined: !s.active.env.Enforced,
		Workspace: s.state.Settings.Cwd, Environment: s.active.env.Environment}, Track: s.trackCommand(c.command)})
}

// argvOf returns the arguments with which a command runs. Its shell reads no profile if the policy says so.
func (s *step) argvOf(c *shellCommand) []string {
	if s.active.env.Environment.NoProfile {
		return command.WithoutLogin(c.Argv)
	}
	return c.Argv
}

// updatePlan notifies the plan and returns the output of the call.
func (s *step) updatePlan(arguments string) string {
	p, err := toolspec.ParsePlan(arguments)
	if err != nil {
		return argumentsText(err)
	}
	s.notify(
		protocol.TurnPlanUpdatedNotification{ThreadID: s.state.ID, TurnID: s.active.id, Explanation: p.Explanation,
			Plan: p.Steps})
	return "Plan updated"
}

// mustAwaitTools reports whether the call can be one of a server's tool that is not known yet.
func (s *step) mustAwaitTools(c *toolCall) bool {
	return s.active.toolsEffect != 0 && !toolspec.IsShell(c.call.Name) && c.call.Name != toolspec.ApplyPatch &&
		c.call.Name != toolspec.RequestUserInput && s.clientTool(c.call.Name) == nil
}
