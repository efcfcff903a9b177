package core

import (
	"time"

	"appserver/core/pure/toolspec"

	"appserver/protocol"
)

// toolCall is a tool call of the model's last answer.
type toolCall struct {
	call ToolCall
	// kind is the call as its tool decoded it, or nil before it starts.
	kind    callKind
	session string // the id of the terminal that the call can open
	// output waits for the end of an earlier call. It is nil once it is recorded.
	output protocol.ResponseItemVariant
	state  callState
	effect EffectID
	// asks is the kind while the call asks the client, and held while it waits for a checkpoint.
	asks    askingKind
	held    heldKind
	request uint64
	askedAt time.Time // when the request was sent
	// again is set for the call of a restored turn until its request is sent again, or nil.
	again *protocol.StoredWait
	// item is the item that clients see, or nil before item/started.
	item *protocol.ThreadItem
}

type callState int

const (
	callWaiting callState = iota
	callAsking
	callHeld // until the checkpoint of the turn is made
	callRunning
	callDone
)

// callKind is a decoded call of one kind. A built-in tool has a file with its kind and
// its builtInTool, and builtInTools lists it.
type callKind interface {
	// start runs the call, asks the client, or completes the call. The caller starts the next calls. A handler that
	// completes the call later does that itself: by effectOfCallEnded after an effect, by advance after an answer.
	start(s *step, c *toolCall)
	// readsOnly reports whether the call can run beside others. It must certainly not write, by its text or by the
	// kernel. And the user must not be asked, before it or after it failed.
	readsOnly(s *step) bool
}

// heldKind is a kind whose calls may write. They can wait for the checkpoint of the turn.
type heldKind interface {
	callKind
	// resume continues the call after the checkpoint was made.
	resume(s *step, c *toolCall)
	// abort completes the call after an interrupt, if clients see it.
	abort(s *step, c *toolCall)
}

// askingKind is a kind whose calls can ask the client.
type askingKind interface {
	callKind
	// request returns the request to the client.
	request(t *Thread, c *toolCall) Request
	// answer applies the client's answer to the request.
	answer(s *step, c *toolCall, in ClientAnswer)
	// abort completes the call after an interrupt.
	abort(s *step, c *toolCall)
	// waitFlag returns the flag of the thread's status while the call asks, or "".
	waitFlag() string
}

// approvedKind is a kind whose calls can need an approval.
type approvedKind interface {
	askingKind
	// show sends item/started, so that clients see what they approve.
	show(s *step, c *toolCall)
	// accept runs the call.
	accept(s *step, c *toolCall)
	// decline completes a call that the user or the rules rejected. reason is for the model.
	decline(s *step, c *toolCall, reason string)
}

// verdict returns a verdict on the call. A request that was sent before a restart is sent again, whatever the policies
// of now.
func (c *toolCall) verdict(verdict toolspec.Verdict) toolspec.Verdict {
	if c.again != nil {
		return toolspec.Ask
	}
	return verdict
}

// becomeAsking makes the call wait for the client's answer to a request.
func (c *toolCall) becomeAsking(k askingKind, request uint64) {
	c.state, c.asks, c.held, c.request, c.again = callAsking, k, nil, request, nil
}

// becomeHeld makes the call wait for the checkpoint of the turn.
func (c *toolCall) becomeHeld(k heldKind) { c.state, c.asks, c.held = callHeld, nil, k }

// becomeRunning makes the call wait for the end of an effect, or for the output of a terminal if the effect is 0.
func (c *toolCall) becomeRunning(effect EffectID) {
	c.state, c.asks, c.held, c.effect = callRunning, nil, nil, effect
}

// becomeDone gives the call its output.
func (c *toolCall) becomeDone(output protocol.ResponseItemVariant) {
	c.state, c.asks, c.held, c.output = callDone, nil, nil, output
}

// readsOnly reports whether the call is running and can run beside others.
func (c *toolCall) readsOnly(s *step) bool { return c.state == callRunning && c.kind.readsOnly(s) }

const abortedOutputText = "aborted by user"
