package core

import "appserver/protocol"

// PeerMail is a message of another agent. A message that starts a turn comes with a TurnStart.
type PeerMail struct {
	Message protocol.PeerMessage
	// Agent is the thread of an agent whose turn Turn ended with an answer. Both are "" for other messages.
	Agent, Turn string
}

func (in PeerMail) apply(s *step) { s.getMail(in) }

// getMail adds a message to the context: before the next model request of a turn, or at once.
func (s *step) getMail(in PeerMail) {
	if !s.isIdle() {
		s.queueMail(peerMail{PeerMail: in})
		return
	}
	s.closeDanglingTurn()
	s.addMail(peerMail{PeerMail: in})
	s.out.Sync = true
	s.contextChanged(nil)
}

// queueMail keeps a message until the next model request, and ends calls that wait for one.
func (s *step) queueMail(in peerMail) {
	s.active.mail = append(s.active.mail, in)
	if in.Turn != "" {
		s.showActivity("subagent-completed-"+in.Turn, protocol.SubAgentActivityItem{Kind: protocol.AgentActivityCompleted,
			AgentThreadID: in.Agent, AgentPath: in.Message.Author})
	}
	s.endMailCalls(waitCompleted)
}

// getTask adds a task of another agent to the active turn. A turn that takes no input ends first.
func (s *step) getTask(in TurnStart) {
	switch t := s.active; {
	case !t.kind.takesInput():
		s.waiting = append(s.waiting, waiter{in.To, in})
	case t.kind == shellTurn:
		s.convertToModelTurn(in.settings(s), in.Env)
		s.queueMail(peerMail{*in.Mail, true})
		s.steerTurn(nil, nil, nil, nil)
	default:
		s.queueMail(peerMail{*in.Mail, true})
		if s.isEnding() { // turn/completed was not sent
			s.becomePreparing(t)
			s.requestModel()
		}
	}
}

// endMailCalls completes the calls that wait for a message, and starts the next calls.
func (s *step) endMailCalls(output string) {
	calls := s.mailCalls()
	for _, c := range calls {
		s.effect(Cancel{c.effect})
		s.completeMailCall(c, output)
	}
	if len(calls) > 0 && !s.isEnding() {
		s.advance()
	}
}

// mailTimerFired completes a call whose time is over. It returns false for other timers.
func (s *step) mailTimerFired(timer EffectID) bool {
	for _, c := range s.mailCalls() {
		if c.effect == timer {
			s.completeMailCall(c, waitTimedOut)
			s.advance()
			return true
		}
	}
	return false
}
