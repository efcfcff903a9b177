package core

import (
	"slices"

	"appserver/protocol"
)

// Waits reports whether the active turn waits for an answer only.
func (t *Thread) Waits() bool { return t.solelyAsking() != nil }

// Resumable reports whether the last turn waits for an answer only, and is not active here.
func (t *Thread) Resumable() bool { return t.resumable() != nil }

// solelyAsking returns the call whose answer is all that the active turn waits for, or nil. Calls before
// it are done, and calls after it have not started. So this call is the only one that a restart affects.
func (t *Thread) solelyAsking() *toolCall {
	a := t.active
	if t.isIdle() || t.options.Ephemeral || !a.onlyCalls() || len(t.questions) > 0 || t.HasTerminals() {
		return nil
	}
	i := slices.IndexFunc(a.calls, func(c *toolCall) bool { return c.state != callDone })
	if i < 0 || !a.calls[i].awaitsAnswer() || !a.awaitsEffectsOf(a.calls[i]) {
		return nil
	}
	return a.calls[i]
}

// onlyCalls reports whether nothing of the turn is under way except calls and effects.
func (t *turn) onlyCalls() bool {
	return t.state == turnCalling && t.kind.takesInput() && len(t.userCommands) == 0
}

// awaitsEffectsOf reports whether the turn has no effects except those that ask about a call again. These
// only read.
func (t *turn) awaitsEffectsOf(c *toolCall) bool {
	asks := func(id EffectID) bool { return c.again != nil && id == c.effect || id == t.awaitTools }
	return !slices.ContainsFunc(slices.Concat(t.modelEffects, t.toolEffects), func(id EffectID) bool { return !asks(id) })
}

// awaitsAnswer reports whether the call waits for an answer, or is being prepared to ask for it again.
func (c *toolCall) awaitsAnswer() bool { return c.state == callAsking || c.again != nil }

// resumable returns the wait of the last turn if the turn waits for an answer only and is not active here,
// or nil.
func (t *Thread) resumable() *protocol.StoredWait {
	if !t.isIdle() || t.state.Waiting == nil ||
		t.announcedEnd != nil && t.announcedEnd.turnID == t.state.Waiting.TurnID {
		return nil
	}
	return t.state.Resumable()
}

// openTurn returns the id of the turn that is active or resumable, or "".
func (t *Thread) openTurn() string {
	if wait := t.resumable(); wait != nil {
		return wait.TurnID
	}
	return t.ActiveTurn()
}

// recordWait records whether the active turn waits for an answer only, if the log has something else. It is
// the last part of a step. So the line is durable before the request is sent, and before the answer has an
// effect.
func (s *step) recordWait() {
	if s.isIdle() || s.options.Ephemeral {
		return
	}
	wait := protocol.StoredWait{TurnID: s.active.id}
	c := s.solelyAsking()
	if c != nil {
		wait.CallID = c.call.ID
	}
	if stored := s.state.Waiting; stored == nil && c == nil ||
		stored != nil && stored.TurnID == wait.TurnID && stored.CallID == wait.CallID {
		return
	}
	if c != nil {
		wait.AskedAt, wait.OutputSchema = c.askedAt.UnixMilli(), s.active.schema
		if k, stores := c.kind.(interface{ storeWait(w *protocol.StoredWait) }); stores {
			k.storeWait(&wait)
		}
		wait.Uncaptured = slices.ContainsFunc(s.captures, func(c capture) bool { return c.turn == s.active.id })
	}
	s.record(protocol.LineTurnWaiting, wait)
	s.out.Sync = true
}
