package core

import (
	"strconv"
	"strings"
	"time"

	"appserver/protocol"
)

// ContinueTurn continues the resumable turn of a loaded thread, whose clients do not know the turn. Env is
// the environment of the turn.
type ContinueTurn struct{ Env TurnEnv }

func (in ContinueTurn) apply(s *step) {
	if s.resumable() == nil {
		return
	}
	s.applyEnv(in.Env)
	s.restoreTurn(in.Env)
	s.notifyStatus()
	if !s.isIdle() {
		s.notify(protocol.TurnStartedNotification{ThreadID: s.state.ID, Turn: s.activeTurnView()})
	}
	s.askAgain()
}

// restoreTurn makes the resumable turn active, or ends the turn if it cannot continue. It sends nothing.
func (s *step) restoreTurn(env TurnEnv) {
	wait := s.resumable()
	var calls []*toolCall
	if wait != nil {
		calls = s.callsToRestore()
	}
	if len(calls) == 0 || !s.canAsk(calls[0]) {
		s.endDanglingTurn()
		return
	}
	calls[0].again, calls[0].askedAt = wait, time.UnixMilli(wait.AskedAt)
	s.failed = false
	s.setServerTools(env.Tools, env.Provider.ContextWindow)
	last := s.transcript.Last()
	t := &turn{id: last.ID, startedAt: calls[0].askedAt, env: env}
	t.schema, t.calls, t.hasUsage = wait.OutputSchema, calls, s.state.Usage.Total.TotalTokens > 0
	t.uncaptured = env.Tracking.Worktree && s.state.CheckpointIndex(last.ID) < 0 && !wait.Uncaptured
	s.becomeRestored(t)
	if last.StartedAt != nil {
		s.active.startedAt = time.Unix(*last.StartedAt, 0)
	}
	for i := range last.Items() {
		if strings.HasPrefix(last.Item(i).ID(), planID(last.ID, 1)) {
			s.active.plans++
		}
	}
	for _, item := range last.Summary() {
		if _, ok := item.ThreadItemVariant.(*protocol.AgentMessageItem); ok {
			s.active.last = &item
		}
	}
}

// redactedMark is the text in the log in place of a secret.
const redactedMark = "[redacted]"

// canAsk reports whether calls of the tool can ask the client. Tools of clients and servers can.
func (t *Thread) canAsk(c *toolCall) bool {
	tool := t.builtInTool(c.call.Name)
	return tool == nil || tool.asks
}

// callsToRestore returns the calls of the resumable turn that have no output. It returns nil if one of
// them is not the model's any more, because secrets were removed from it.
func (s *step) callsToRestore() (calls []*toolCall) {
	for _, at := range s.state.OpenCalls() {
		item := s.context.Item(at)
		c := &toolCall{session: strconv.FormatInt(item.Ordinal(), 10)}
		switch v := item.Protocol().ResponseItemVariant.(type) {
		case *protocol.FunctionCall:
			c.call = ToolCall{ID: v.CallID, Name: v.FullName(), Arguments: v.Arguments, Echo: v.Echo}
		case *protocol.CustomToolCall:
			c.call = ToolCall{ID: v.CallID, Name: v.Name, Arguments: v.Input, Custom: true}
		default:
			return nil
		}
		if strings.Contains(c.call.Arguments, redactedMark) {
			return nil
		}
		calls = append(calls, c)
	}
	return calls
}

// askAgain sends the request of a restored turn again. It reads files of a patch and awaits tools of
// servers first. It captures the worktree if that was not completed.
func (s *step) askAgain() {
	if s.isIdle() {
		return
	}
	if s.state.Waiting.Uncaptured && s.state.CheckpointIndex(s.active.id) < 0 {
		s.beginCheckpoint()
	}
	if s.active.env.ToolsPending {
		s.active.awaitTools = s.newEffect()
		s.active.modelEffects = append(s.active.modelEffects, s.active.awaitTools)
		s.effect(AwaitTools{ID: s.active.awaitTools})
	}
	s.advance()
}
