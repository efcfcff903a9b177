package core

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"appserver/core/command"
	"appserver/core/toolspec"
	"appserver/protocol"
)

func (in ToolStarted) apply(s *step) { s.toolStarted(in) }
func (in ToolOutput) apply(s *step)  { s.toolOutput(in) }
func (in ToolDone) apply(s *step)    { s.toolDone(in) }

// toolCall is a tool call of the model's last answer.
type toolCall struct {
	call    ToolCall
	command *shellCommand // or nil for other tools than the shell
	patch   *patchCall    // or nil for other tools than patches
	server  *serverCall   // or nil for tools of other origin
	image   string        // the absolute path of the image, or ""
	session string        // the id of the terminal that the call can open
	client  *clientCall   // or nil if the client does not answer the call
	recall  *recallCall   // or nil for other tools than recall
	// output waits for the end of an earlier call. It is nil once it is recorded.
	output  protocol.ResponseItemVariant
	state   callState
	effect  EffectID
	request uint64
	// item is the item that clients see, or nil before item/started.
	item *protocol.ThreadItem
}

// shellCommand is a command of the model, and the state of its approval.
type shellCommand struct {
	toolspec.Command
	// denied is the result inside the sandbox if the user is asked to run the command outside, or nil.
	denied *ToolResult
	// outside is set if the command runs outside of the sandbox.
	outside bool
	// accepted is set if the user accepted the command.
	accepted bool
}

type callState int

const (
	callWaiting callState = iota
	callAsking
	callHeld // until the checkpoint of the turn is made
	callRunning
	callDone
)

func (t *Thread) awaitsApproval() bool {
	if t.active == nil {
		return false
	}
	if len(t.questions) > 0 {
		return true
	}
	for _, c := range t.active.calls {
		if c.state == callAsking && c.client == nil {
			return true
		}
	}
	return false
}

// awaitsUserInput reports whether a call asks the user to choose.
func (t *turn) awaitsUserInput() bool {
	for _, c := range t.calls {
		if c.state == callAsking && c.client != nil && c.client.questions != nil {
			return true
		}
	}
	return false
}

// addCalls records the calls of an answer and starts them.
func (s *step) addCalls(calls []ToolCall) {
	for _, call := range calls {
		call.ID = s.uniqueCallID(call.ID)
		s.item(s.callItem(&call))
		s.active.calls = append(s.active.calls, &toolCall{call: call, session: strconv.FormatInt(s.state.Next-1, 10)})
	}
	s.advance()
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

// customDone is the status of a custom call. The model has always finished it.
const customDone = "completed"

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
		if c.state == callWaiting && (!busy || reading && s.decodeCall(c) && s.readsOnly(c)) {
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
	if !busy {
		s.requestModel()
	}
}

// readsOnly reports whether the call can run beside others. It must certainly not write, by its
// text or by the kernel. And the user must not be asked, before it or after it failed.
func (s *step) readsOnly(c *toolCall) bool {
	switch {
	case c.server != nil:
		return c.server.tool.Harmless() && c.server.tool.Approval != toolspec.ApprovePrompt
	case c.command == nil:
		return s.viewsImage(c)
	case c.command.Escalates || patchIn(c.command) != nil:
		return false
	}
	return c.command.Safe || !s.mayWrite(c.command) && !s.asksOutside()
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
	return &shellCommand{Command: *command}, nil
}

func (s *step) startCall(c *toolCall) {
	switch {
	case toolspec.IsShell(c.call.Name):
		s.startShell(c)
	case s.reviewing() != nil:
		s.completeCall(c, fmt.Sprintf("There is no tool %q in a review. Use %s.", c.call.Name, toolspec.Shell))
	case s.serverTool(c.call.Name) != nil:
		s.startServerCall(c)
	case c.call.Name == toolspec.ApplyPatch:
		s.startPatch(c)
	case c.call.Name == toolspec.UpdatePlan:
		s.completeCall(c, s.updatePlan(c.call.Arguments))
	case c.call.Name == toolspec.WriteStdin && s.capabilities.Terminals:
		s.startStdin(c)
	case c.call.Name == toolspec.ViewImage && s.capabilities.Images:
		s.startViewImage(c)
	case c.call.Name == toolspec.Recall && s.recalls():
		s.startRecall(c)
	case c.call.Name == toolspec.RequestUserInput && s.offersTool(toolspec.RequestUserInput):
		s.askQuestions(c)
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

func (t *Thread) offersTool(name string) bool {
	return slices.ContainsFunc(t.tools(), func(tool ToolSpec) bool { return tool.Name == name })
}

func (s *step) unknownToolText(name string) string {
	var names []string
	for _, tool := range s.tools() {
		names = append(names, tool.Name)
	}
	return fmt.Sprintf("There is no tool %q. Use one of: %s.", name, strings.Join(names, ", "))
}

// completeCall ends a call with an output for the model.
func (s *step) completeCall(c *toolCall, output string) {
	s.completeCallWith(c, protocol.ToolOutput{Text: output})
}

// rejectArguments completes a call whose arguments are invalid.
func (s *step) rejectArguments(c *toolCall, err error) { s.completeCall(c, argumentsText(err)) }

// argumentsText is the output for invalid arguments, in the words of the reference implementation.
func argumentsText(err error) string {
	return fmt.Sprintf("failed to parse function arguments: %v", err)
}

func (s *step) completeCallWith(c *toolCall, output protocol.ToolOutput) {
	c.state = callDone
	c.output = &protocol.FunctionCallOutput{CallID: c.call.ID, Output: output}
	if c.call.Custom {
		c.output = &protocol.CustomToolCallOutput{CallID: c.call.ID, Output: output}
	}
	s.out.Sync = true
	if s.active != nil && slices.Contains(s.active.calls, c) {
		s.recordOutputs()
		return
	}
	s.item(c.output)
}

// recordOutputs records outputs in the order of the calls. Providers require that order.
func (s *step) recordOutputs() {
	for _, c := range s.active.calls {
		if c.state != callDone {
			return
		}
		if c.output != nil {
			s.item(c.output)
			c.output = nil
		}
	}
}

// pendingOutput returns the output that waits for an earlier call, or nil.
func (s *step) pendingOutput(callID string) protocol.ResponseItemVariant {
	if s.active == nil {
		return nil
	}
	for _, c := range s.active.calls {
		if c.call.ID == callID {
			return c.output
		}
	}
	return nil
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
	if c.command.Terminal != nil && len(s.liveTerminals()) >= maxTerminals {
		s.completeCall(c, fmt.Sprintf("%d commands run in the background, and no more can. "+
			"End one of the sessions first: %s.",
			maxTerminals, s.sessionList()))
		return
	}
	c.command.outside = s.isApproved(c.command.Key(true))
	switch s.verdict(c.command) {
	case toolspec.Run:
		s.runCommand(c)
	case toolspec.Ask:
		c.command.Reason = cmp.Or(c.command.Reason, c.command.dangerReason())
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
		Argv: c.command.Argv, Cwd: c.command.Cwd, Timeout: c.command.Timeout,
		Sandbox: s.sandboxOf(c.command), Workspace: s.state.Settings.Cwd,
		Environment: s.active.env.Environment}, Track: s.trackCommand(c.command)})
}

// updateCommandItem sends item/started once, and returns a copy of the item that can be changed.
// Notifications that were sent keep the old item.
func (s *step) updateCommandItem(c *toolCall, source string, processID *string) *protocol.CommandExecutionItem {
	if c.item == nil {
		c.item = s.newItem(&protocol.CommandExecutionItem{
			ID: c.call.ID, Command: command.Quote(c.command.Argv), Cwd: c.command.Cwd, Source: source,
			ProcessID: processID, Status: protocol.CommandInProgress, CommandActions: c.command.Actions(),
		}, s.Now)
		s.notifyStarted(c.item)
	}
	item := *c.item.ThreadItemVariant.(*protocol.CommandExecutionItem)
	item.Source = source
	if processID != nil {
		item.ProcessID = processID
	}
	c.item.ThreadItemVariant = &item
	return &item
}

// runningCall returns the call of an effect, or nil.
func (s *step) runningCall(id EffectID) *toolCall {
	if s.active == nil {
		return nil
	}
	for _, c := range s.active.calls {
		if c.state == callRunning && c.effect == id {
			return c
		}
	}
	return nil
}

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

func (s *step) notifyOutput(turnID, itemID, text string) {
	if text != "" {
		s.notify(
			&protocol.CommandExecutionOutputDeltaNotification{ThreadID: s.state.ID, TurnID: turnID, ItemID: itemID, Delta: text})
	}
}

func (s *step) toolDone(in ToolDone) {
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

// completeCommand ends a command that ran. The model gets its result and the suffix.
func (s *step) completeCommand(c *toolCall, r ToolResult, rest string) {
	setResult(s.updateCommandItem(c, protocol.SourceStartup, c.processID()), r)
	s.completeItem(c.item, c.command.Argv)
	s.completeCall(c, c.command.resultText(r)+rest)
}

// processID returns the id of a terminal, or nil. Other commands have an id of the operating
// system.
func (c *toolCall) processID() *string {
	if c.command.Terminal == nil {
		return nil
	}
	return &c.session
}

// resultText returns the result for the model.
func (c *shellCommand) resultText(r ToolResult) string {
	if c.Terminal != nil {
		return terminalOutputText(r.Duration, exitText(r), r.Output, c.Terminal.Keep)
	}
	return commandOutput(r)
}

// setResult sets the result of a command's item.
func setResult(item *protocol.CommandExecutionItem, r ToolResult) {
	item.Status = protocol.CommandFailed
	if r.ExitCode != nil && *r.ExitCode == 0 {
		item.Status = protocol.CommandCompleted
	}
	item.ExitCode = r.ExitCode
	item.AggregatedOutput = protocol.OrNil(r.Output)
	item.DurationMs = new(r.Duration.Milliseconds())
}

// commandOutput formats a result for the model, in the form of the reference implementation.
func commandOutput(r ToolResult) string {
	head := fmt.Sprintf("Wall time: %.1f seconds\n", r.Duration.Seconds())
	switch {
	case r.TimedOut:
		head = "The command was ended: it took longer than its timeout.\n" + head
	case r.ExitCode != nil:
		head = fmt.Sprintf("Exit code: %d\n", *r.ExitCode) + head
	default:
		head = "The command did not finish: " + r.Failure + "\n" + head
	}
	return head + "Output:\n" + r.Output
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
