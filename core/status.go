package core

import "appserver/protocol"

// status returns the status of the thread that clients see.
func (t *Thread) status() protocol.ThreadStatus {
	switch {
	case t.options.Visited:
		return protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusNotLoaded{}}
	case !t.isIdle():
		flags := []string{}
		if t.awaitsApproval() {
			flags = append(flags, protocol.FlagWaitingOnApproval)
		}
		if t.active.asks(protocol.FlagWaitingOnUserInput) {
			flags = append(flags, protocol.FlagWaitingOnUserInput)
		}
		return protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusActive{ActiveFlags: flags}}
	case t.failed:
		return protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusSystemError{}}
	}
	return protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusIdle{}}
}

// Status returns the status of the thread.
func (t *Thread) Status() protocol.ThreadStatus { return t.status() }

func (s *step) notifyStatus() {
	s.notify(protocol.ThreadStatusChangedNotification{ThreadID: s.state.ID, Status: s.status()})
}

// awaitsApproval reports whether the status has the flag for approvals: a call needs one, or a server asks a question.
func (t *Thread) awaitsApproval() bool {
	if t.isIdle() {
		return false
	}
	if len(t.questions) > 0 {
		return true
	}
	return t.active.asks(protocol.FlagWaitingOnApproval)
}
