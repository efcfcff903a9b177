package core

import (
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// The outputs of a call that waits for messages, in the words of the reference implementation.
const (
	waitCompleted = `{"message":"Wait completed.","timed_out":false}`
	waitSteered   = `{"message":"Wait interrupted by new input.","timed_out":false}`
	waitTimedOut  = `{"message":"Wait timed out.","timed_out":true}`
)

// mailCall is a call that waits for a message of another agent. It runs until its timer fires.
type mailCall struct{ toolspec.AgentCall }

// readsOnly permits other waiting calls beside it.
func (*mailCall) readsOnly(*step) bool { return true }

func (k *mailCall) start(s *step, c *toolCall) {
	c.item = s.newItem(&protocol.CollabAgentToolCallItem{ID: c.call.ID, Tool: protocol.AgentsAwaited,
		Status: protocol.AgentCallInProgress, SenderThreadID: s.state.ID, ReceiverThreadIDs: []string{},
		AgentsStates: map[string]protocol.AgentState{}}, s.Now)
	s.notifyStarted(c.item)
	if len(s.active.mail) > 0 {
		s.completeMailCall(c, waitCompleted)
		return
	}
	c.becomeRunning(s.newEffect())
	s.effect(Timer{ID: c.effect, Delay: k.Wait})
}

// mailCalls returns the running calls that wait for a message.
func (s *step) mailCalls() (calls []*toolCall) {
	for _, c := range s.activeCalls() {
		if _, waits := c.kind.(*mailCall); waits && c.state == callRunning {
			calls = append(calls, c)
		}
	}
	return calls
}

func (s *step) completeMailCall(c *toolCall, output string) {
	item := *c.item.ThreadItemVariant.(*protocol.CollabAgentToolCallItem)
	item.Status = protocol.AgentCallCompleted
	if output == abortedOutputText {
		item.Status = protocol.AgentCallFailed
	}
	c.item.ThreadItemVariant = &item
	s.completeItem(c.item, nil)
	s.completeCall(c, output)
}

// abortMailCalls completes the calls of an interrupted turn that wait for a message.
func (s *step) abortMailCalls() {
	for _, c := range s.mailCalls() {
		s.effect(Cancel{c.effect})
		s.completeMailCall(c, abortedOutputText)
	}
}
