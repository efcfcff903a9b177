package core

import (
	"encoding/json"
	"errors"
	"fmt"

	"appserver/core/toolspec"
	"appserver/protocol"
)

func (in ClientAnswer) apply(s *step) { s.clientAnswer(in) }

// requestApproval shows the item and asks the clients whether the call may run.
func (s *step) requestApproval(c *toolCall) {
	c.state, c.request = callAsking, s.NextRequest()
	s.notifyStatus()
	switch {
	case c.server != nil:
		s.updateServerItem(c)
	case c.patch != nil:
		s.updatePatchItem(c)
	default:
		s.updateCommandItem(c, protocol.SourceAgent, nil)
	}
	s.send(s.requestFor(c))
}

func (s *step) requestFor(c *toolCall) Request {
	if c.server != nil {
		return s.serverRequest(c)
	}
	if c.client != nil {
		return s.clientRequest(c)
	}
	if c.patch != nil {
		return Request{
			ID:     c.request,
			Method: protocol.MethodFileChangeApproval,
			Params: protocol.FileChangeRequestApprovalParams{
				ThreadID: s.state.ID, TurnID: s.active.id, ItemID: c.call.ID, StartedAtMs: *c.item.StartedAtMs,
			},
		}
	}
	item := c.item.ThreadItemVariant.(*protocol.CommandExecutionItem)
	return Request{
		ID:     c.request,
		Method: protocol.MethodCommandApproval,
		Params: protocol.CommandExecutionRequestApprovalParams{
			Kind: "command", ThreadID: s.state.ID, TurnID: s.active.id, ItemID: c.call.ID, StartedAtMs: *c.item.StartedAtMs,
			Reason: protocol.OrNil(c.command.Reason), Command: item.Command, Cwd: item.Cwd, CommandActions: item.CommandActions,
			AvailableDecisions: offeredDecisions,
		},
	}
}

var offeredDecisions = []json.RawMessage{
	json.RawMessage(`"accept"`), json.RawMessage(`"acceptForSession"`),
	json.RawMessage(`"decline"`), json.RawMessage(`"cancel"`),
}

// resendRequests sends the open requests to a client that subscribes.
func (s *step) resendRequests(to uint64) {
	for _, q := range s.questions {
		r := s.questionRequest(q)
		r.Only = to
		s.send(r)
	}
	if s.active == nil {
		return
	}
	for _, c := range s.active.calls {
		if c.state == callAsking {
			r := s.requestFor(c)
			r.Only = to
			s.send(r)
		}
	}
}

// clientAnswer applies the answer to a request of the server. The decision covers only what the
// request showed. An invalid answer counts as decline, and the client gets a warning.
func (s *step) clientAnswer(in ClientAnswer) {
	c := s.pendingCall(in.Request)
	if c == nil {
		s.questionAnswered(in)
		return
	}
	s.notify(protocol.ServerRequestResolvedNotification{ThreadID: s.state.ID, RequestID: c.request})
	if c.server != nil {
		s.serverApproval(c, in)
		return
	}
	if c.client != nil {
		s.clientAnswered(c, in)
		return
	}
	word, remark := c.decision(in)
	if remark != "" {
		s.warn([]string{remark})
	}
	switch word {
	case protocol.DecisionAcceptForSession:
		for _, key := range s.approvalKeys(c) {
			s.rememberApproval(key)
		}
		s.acceptCall(c)
	case protocol.DecisionAccept:
		s.acceptCall(c)
	case protocol.DecisionCancel:
		s.declineCall(c, c.declinedText()+" and stopped the turn.")
		s.notifyStatus()
		s.interrupt()
	default:
		s.declineCall(c, c.declinedText()+". "+c.notDoneText())
		s.notifyStatus()
		s.advance()
	}
}

// decision returns the decision of an answer, and a warning for the client, or "".
func (c *toolCall) decision(in ClientAnswer) (word, remark string) {
	var answer protocol.CommandExecutionRequestApprovalResponse
	err := in.Err
	if err != nil {
		err = fmt.Errorf("it is an error response, %w", err)
	} else {
		err = protocol.Unmarshal(in.Result, &answer)
	}
	word = answer.Decision.Word
	switch {
	case err == nil && word == "":
		err = errors.New("decision is missing")
	case err == nil && word == protocol.DecisionAcceptWithAmendment && c.patch != nil:
		err = errors.New("acceptWithExecpolicyAmendment is for commands, not for patches")
	}
	switch {
	case err != nil:
		return protocol.DecisionDecline, fmt.Sprintf("The answer to the approval request for %s counts as decline: %v. "+
			"Answer with the decision accept, acceptForSession, decline or cancel.", c.call.ID, err)
	case word == protocol.DecisionAcceptWithAmendment:
		return protocol.DecisionAcceptForSession, fmt.Sprintf(
			"Rules for commands are not supported: %s is accepted for this session, for exactly this command.", c.call.ID)
	}
	return word, ""
}

// approvalKeys returns the keys that acceptForSession adds.
func (s *step) approvalKeys(c *toolCall) []string {
	if c.patch != nil {
		return c.patch.keys()
	}
	if s.escalatesIfAccepted(c.command) {
		return []string{c.command.Key(true)}
	}
	return []string{c.command.key()}
}

func (c *toolCall) declinedText() string {
	if c.patch != nil {
		return "The user declined this patch"
	}
	return c.command.declinedText()
}

func (c *toolCall) notDoneText() string {
	if c.patch != nil {
		return "No file was changed."
	}
	return "It was not run" + c.command.notRunText()
}

func (s *step) pendingCall(request uint64) *toolCall {
	if s.active == nil {
		return nil
	}
	for _, c := range s.active.calls {
		if c.state == callAsking && c.request == request {
			return c
		}
	}
	return nil
}

func (s *step) rememberApproval(key string) {
	if s.allowed == nil {
		s.allowed = map[string]bool{}
	}
	s.allowed[key] = true
}

// isApproved reports whether the user accepted the key for the session. Approvals do not hold for a
// reviewer.
func (s *step) isApproved(key string) bool { return s.reviewing() == nil && s.allowed[key] }

func (s *step) acceptCall(c *toolCall) {
	c.state = callRunning
	s.notifyStatus()
	switch {
	case c.server != nil:
		s.callServer(c)
		return
	case c.patch != nil:
		s.writePatch(c)
		return
	}
	c.command.accepted, c.command.outside = true, s.escalatesIfAccepted(c.command)
	s.runCommand(c)
}

// declineCall completes a call that the user or the rules rejected. A command that ran in the
// sandbox keeps its result.
func (s *step) declineCall(c *toolCall, reason string) {
	switch {
	case c.server != nil:
		s.endServerCall(c, nil, reason)
		return
	case c.patch != nil:
		s.endPatch(c, protocol.PatchDeclined, reason)
		return
	case c.command.denied != nil:
		s.completeCommand(c, *c.command.denied, "\n"+reason)
		return
	}
	item := s.updateCommandItem(c, protocol.SourceAgent, nil)
	item.Status = protocol.CommandDeclined
	s.completeItem(c.item, c.command.Argv)
	s.completeCall(c, reason)
}

// warnUnconfined warns once that the kernel does not enforce the sandbox policy.
func (s *step) warnUnconfined() {
	if s.warned || s.active.env.Enforced || toolspec.Unconfined(s.state.Settings.Sandbox) {
		return
	}
	s.warned = true
	text := "This system cannot confine commands to the sandbox policy. You are asked about each command " +
		"that may do more than read. Accepted commands run unconfined."
	if !s.asksOutside() {
		text = "A command was not run: this system cannot confine commands to the sandbox policy, " +
			"and the approval policy does not permit to ask you. Use approval policy \"on-request\" to be asked, " +
			"or sandbox \"danger-full-access\" to run commands unconfined."
	}
	s.notify(protocol.WarningNotification{ThreadID: &s.state.ID, Message: text})
}

// abortCall completes a call that waits for an answer or a checkpoint, after an interrupt. Running
// commands end with their effect.
func (s *step) abortCall(c *toolCall) {
	if c.state == callAsking {
		s.notify(protocol.ServerRequestResolvedNotification{ThreadID: s.state.ID, RequestID: c.request})
	}
	switch {
	case c.state == callAsking && c.client != nil:
		s.abortClientCall(c)
	case c.state == callAsking, c.state == callHeld && c.item != nil:
		s.declineCall(c, abortedOutputText)
	}
}

const abortedOutputText = "aborted by user"

// OpenRequests returns the ids of requests that no client has answered.
func (t *Thread) OpenRequests() []uint64 {
	var ids []uint64
	for _, q := range t.questions {
		ids = append(ids, q.request)
	}
	if t.active == nil {
		return ids
	}
	for _, c := range t.active.calls {
		if c.state == callAsking {
			ids = append(ids, c.request)
		}
	}
	return ids
}

// openItems returns the items of calls between item/started and item/completed. A subscribing
// client needs them for the requests about them.
func (t *turn) openItems() (items []protocol.ThreadItem) {
	for _, c := range t.calls {
		if c.item != nil && c.state != callDone {
			items = append(items, *c.item)
		}
	}
	return items
}

// completeOpenCalls records an output for each call that has none. Providers reject a call without
// output.
func (s *step) completeOpenCalls() {
	for _, call := range s.state.OpenCalls() {
		if held := s.pendingOutput(s.context.Item(call).CallID()); held != nil {
			s.item(held)
			continue
		}
		s.item(s.context.Item(call).Answer(abortedOutputText).ResponseItemVariant)
	}
}
