package core

import (
	"encoding/json"
	"time"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// requestApproval shows the item and asks the clients whether the call may run.
func (s *step) requestApproval(c *toolCall) {
	s.beginAsking(c)
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

// beginAsking stores the id of the request for which a call waits.
func (s *step) beginAsking(c *toolCall) {
	if c.again == nil {
		c.askedAt = s.Now
	}
	c.state, c.request, c.again = callAsking, s.NextRequest(), nil
}

func (t *Thread) requestFor(c *toolCall) Request {
	if c.server != nil {
		return t.serverRequest(c)
	}
	if c.client != nil {
		return t.clientRequest(c)
	}
	if c.patch != nil {
		return Request{
			ID:     c.request,
			Method: protocol.MethodFileChangeApproval,
			Params: protocol.FileChangeRequestApprovalParams{
				ThreadID: t.state.ID, TurnID: t.active.id, ItemID: c.call.ID, StartedAtMs: *c.item.StartedAtMs,
			},
		}
	}
	item := c.item.ThreadItemVariant.(*protocol.CommandExecutionItem)
	return Request{
		ID:     c.request,
		Method: protocol.MethodCommandApproval,
		Params: protocol.CommandExecutionRequestApprovalParams{
			Kind: "command", ThreadID: t.state.ID, TurnID: t.active.id, ItemID: c.call.ID, StartedAtMs: *c.item.StartedAtMs,
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
	for _, open := range s.Unanswered() {
		open.Only = to
		s.send(open.Request)
	}
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

// OpenRequest is a request that no client has answered. A question of an MCP server has no item, and
// no turn if none was active: these ids are nil then.
type OpenRequest struct {
	Request
	TurnID, ItemID *string
	AskedAt        time.Time
}

// Unanswered returns the requests that no client has answered.
func (t *Thread) Unanswered() []OpenRequest {
	var open []OpenRequest
	for _, q := range t.questions {
		open = append(open, OpenRequest{Request: t.questionRequest(q), TurnID: q.turnID, AskedAt: q.askedAt})
	}
	if t.active == nil {
		return open
	}
	for _, c := range t.active.calls {
		if c.state == callAsking {
			open = append(open, OpenRequest{t.requestFor(c), new(t.active.id), new(c.call.ID), c.askedAt})
		}
	}
	return open
}

// OpenRequests returns the ids of the requests that no client has answered.
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
