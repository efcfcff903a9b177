package core

import (
	"encoding/json"
	"time"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// requestApproval shows the item and asks the clients whether the call may run.
func (s *step) requestApproval(c *toolCall, k approvedKind) {
	s.beginAsking(c, k)
	s.notifyStatus()
	k.show(s, c)
	s.send(k.request(s.Thread, c))
}

// beginAsking stores the id of the request for which a call waits.
func (s *step) beginAsking(c *toolCall, k askingKind) {
	if c.again == nil {
		c.askedAt = s.Now
	}
	c.becomeAsking(k, s.NextRequest())
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

// pendingCall returns the call that asks with a request, or nil.
func (s *step) pendingCall(request uint64) *toolCall {
	for _, c := range s.activeCalls() {
		if c.state == callAsking && c.request == request {
			return c
		}
	}
	return nil
}

// acceptCall runs a call that the client accepted. The status is sent first, and shows that the call asks no more.
func (s *step) acceptCall(c *toolCall, k approvedKind) {
	c.becomeRunning(c.effect)
	s.notifyStatus()
	k.accept(s, c)
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
	switch c.state {
	case callAsking:
		s.notify(protocol.ServerRequestResolvedNotification{ThreadID: s.state.ID, RequestID: c.request})
		c.asks.abort(s, c)
	case callHeld:
		c.held.abort(s, c)
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
	for _, c := range t.activeCalls() {
		if c.state == callAsking {
			open = append(open, OpenRequest{c.asks.request(t, c), new(t.active.id), new(c.call.ID), c.askedAt})
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
	for _, c := range t.activeCalls() {
		if c.state == callAsking {
			ids = append(ids, c.request)
		}
	}
	return ids
}
