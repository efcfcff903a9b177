package core

import (
	"fmt"
	"slices"

	"appserver/core/pure/command"
	"appserver/protocol"
)

// completeCall ends a call with an output for the model.
func (s *step) completeCall(c *toolCall, output string) {
	s.completeCallWith(c, protocol.ToolOutput{Text: output})
}

func (s *step) completeCallWith(c *toolCall, output protocol.ToolOutput) {
	output = s.limitOutput(output)
	if c.call.Custom {
		c.becomeDone(&protocol.CustomToolCallOutput{CallID: c.call.ID, Output: output})
	} else {
		c.becomeDone(&protocol.FunctionCallOutput{CallID: c.call.ID, Output: output})
	}
	s.out.Sync = true
	if slices.Contains(s.activeCalls(), c) {
		s.recordOutputs()
		return
	}
	s.item(c.output)
}

// rejectArguments completes a call whose arguments are invalid.
func (s *step) rejectArguments(c *toolCall, err error) { s.completeCall(c, argumentsText(err)) }

// argumentsText returns the output for invalid arguments, in the words of the reference implementation.
func argumentsText(err error) string {
	return fmt.Sprintf("failed to parse function arguments: %v", err)
}

// runningCall returns the call of an effect, or nil.
func (s *step) runningCall(id EffectID) *toolCall {
	for _, c := range s.activeCalls() {
		if c.state == callRunning && c.effect == id {
			return c
		}
	}
	return nil
}

// runningCallOf returns the call of an effect with its kind. The call is nil if none of this kind has the effect.
func runningCallOf[K callKind](s *step, id EffectID) (_ *toolCall, kind K) {
	c := s.runningCall(id)
	if c == nil {
		return nil, kind
	}
	kind, is := c.kind.(K)
	if !is {
		return nil, kind
	}
	return c, kind
}

// endedCall does the same as runningCallOf, for an effect that has ended.
func endedCall[K callKind](s *step, id EffectID) (*toolCall, K) {
	c, kind := runningCallOf[K](s, id)
	if c == nil || !s.endToolEffect(id) {
		return nil, kind
	}
	return c, kind
}

// pendingOutput returns the output that waits for an earlier call, or nil.
func (s *step) pendingOutput(callID string) protocol.ResponseItemVariant {
	for _, c := range s.activeCalls() {
		if c.call.ID == callID {
			return c.output
		}
	}
	return nil
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

// customDone is the status of a custom call. The model has always finished it.
const customDone = "completed"

// updateCommandItem sends item/started once, and returns a copy of the item that can be changed.
// Notifications that were sent keep the old item.
func (s *step) updateCommandItem(
	c *toolCall, k *shellCommand, source string, processID *string,
) *protocol.CommandExecutionItem {
	if c.item == nil {
		c.item = s.newItem(&protocol.CommandExecutionItem{
			ID: c.call.ID, Command: command.Quote(k.Argv), Cwd: k.Cwd, Source: source,
			ProcessID: processID, Status: protocol.CommandInProgress, CommandActions: k.Actions(),
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

func (s *step) notifyOutput(turnID, itemID string, c *shellCommand, text string) {
	if text != "" {
		c.received.add(text)
		s.notify(
			&protocol.CommandExecutionOutputDeltaNotification{ThreadID: s.state.ID, TurnID: turnID, ItemID: itemID, Delta: text})
	}
}
