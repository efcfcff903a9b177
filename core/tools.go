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

// toolCall is a tool call of the model's last answer.
type toolCall struct {
	call    ToolCall
	command *shellCommand // nil for other tools than the shell
	patch   *patchCall    // nil for all but patches
	server  *serverCall   // nil for all but tools of MCP servers
	image   string        // the path of the image to look at, "" for other tools
	session string        // the id of the terminal that it can open
	client  *clientCall   // nil for all but those that the client answers
	recall  *recallCall   // nil for all but searches of the memory
	// output is that of a call that has ended before an earlier one, nil once it was recorded.
	output  protocol.ResponseItemVariant
	state   callState
	effect  EffectID
	request uint64
	// item is that of the command, of the patch or of the tool, nil until it was shown.
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
	callHeld // by a checkpoint
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

// awaitsUserInput tells whether the user is asked to choose.
func (t *turn) awaitsUserInput() bool {
	for _, c := range t.calls {
		if c.state == callAsking && c.client != nil && c.client.questions != nil {
			return true
		}
	}
	return false
}

// addCalls writes the calls of an answer and begins to run them.
func (s *step) addCalls(calls []ToolCall) {
	for _, call := range calls {
		call.ID = s.uniqueCallID(call.ID)
		s.item(s.callItem(&call))
		s.active.calls = append(s.active.calls, &toolCall{call: call, session: strconv.FormatInt(s.next-1, 10)})
	}
	s.advance()
}

// callItem is what the history keeps of a call.
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

// customDone is the status of a custom call that the model has finished.
const customDone = "completed"

// uniqueCallID makes an id that the thread has seen, or an empty one, unique. The thread
// does not see those of reviews.
func (s *step) uniqueCallID(id string) string {
	if id != "" && s.reviewing() == nil && !s.context.HasCall(id) {
		return id
	}
	return fmt.Sprintf("call_%s", s.NewID())
}

// advance begins the calls whose time has come: one after the other, but those that
// only read together. When all are done the model is asked again.
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

// readsOnly reports whether the call can run beside others: it surely only reads, or the kernel
// lets it write nothing, and the user is not asked, neither before it nor after it has failed.
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

// viewsImage reports whether the call looks at an image.
func (s *step) viewsImage(c *toolCall) bool {
	return c.call.Name == toolspec.ViewImage && s.capabilities.Images && s.reviewing() == nil && s.serverTool(c.call.Name) == nil
}

// decodeCall reads the arguments of a call that may run beside others. It is false for other tools
// and for arguments that make no sense.
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
	command, err := parse(c.call.Arguments, s.settings.Cwd, s.active.env.Shell)
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
		s.completeCall(c, fmt.Sprintf("There is no tool %q in a review. The tool is: %s.", c.call.Name, toolspec.Shell))
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

// startOtherCall begins a call of a tool that is not ours.
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
	return fmt.Sprintf("There is no tool %q. The tools are: %s.", name, strings.Join(names, ", "))
}

// completeCall gives the model the output of a call.
func (s *step) completeCall(c *toolCall, output string) {
	s.completeCallWith(c, protocol.ToolOutput{Text: output})
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

// recordOutputs records the outputs of calls in the order of the calls. The output of a call that
// ends before an earlier one waits for that.
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

// pendingOutput returns the output of a call that waits for an earlier one, nil for none.
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
		s.completeCall(c, fmt.Sprintf("The arguments of %s could not be read: %v", c.call.Name, err))
		return
	}
	if p := patchIn(c.command); p != nil && s.reviewing() != nil {
		s.completeCall(c, "A review changes no files: the patch was not applied.")
		return
	} else if p != nil {
		s.planPatch(c, p)
		return
	}
	if c.command.Terminal != nil && len(s.liveTerminals()) >= maxTerminals {
		s.completeCall(c, fmt.Sprintf("%d commands run in the background, which is the most there can be: end one of the sessions %s.", maxTerminals, s.sessionList()))
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
		Argv: c.command.Argv, Cwd: c.command.Cwd, Timeout: c.command.Timeout, Sandbox: s.sandboxOf(c.command), Workspace: s.settings.Cwd,
		Environment: s.active.env.Environment}, Track: s.trackCommand(c.command)})
}

// updateCommandItem tells that the command's item began, where that was not told yet. The item
// it gives can be changed: what was told stays as it was.
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

// runningCall is the call that an effect belongs to.
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
		s.notify(&protocol.CommandExecutionOutputDeltaNotification{ThreadID: s.id, TurnID: turnID, ItemID: itemID, Delta: text})
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

// completeCommand ends a command that ran. The model is told the rest after its output.
func (s *step) completeCommand(c *toolCall, r ToolResult, rest string) {
	setResult(s.updateCommandItem(c, protocol.SourceStartup, c.processID()), r)
	s.completeItem(c.item, c.command.Argv)
	s.completeCall(c, c.command.resultText(r)+rest)
}

// processID is that of a terminal; the other commands have the system's.
func (c *toolCall) processID() *string {
	if c.command.Terminal == nil {
		return nil
	}
	return &c.session
}

// resultText is a command's result as the model reads it.
func (c *shellCommand) resultText(r ToolResult) string {
	if c.Terminal != nil {
		return terminalOutputText(r.Duration, exitText(r), r.Output, c.Terminal.Keep)
	}
	return commandOutput(r)
}

// setResult gives a command's item what came of it.
func setResult(item *protocol.CommandExecutionItem, r ToolResult) {
	item.Status = protocol.CommandFailed
	if r.ExitCode != nil && *r.ExitCode == 0 {
		item.Status = protocol.CommandCompleted
	}
	item.ExitCode = r.ExitCode
	item.AggregatedOutput = optional(r.Output)
	item.DurationMs = new(r.Duration.Milliseconds())
}

// commandOutput is a command's result as the model reads it.
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
		return fmt.Sprintf("The plan could not be read: %v", err)
	}
	s.notify(protocol.TurnPlanUpdatedNotification{ThreadID: s.id, TurnID: s.active.id, Explanation: p.Explanation, Plan: p.Steps})
	return "Plan updated"
}
