package core

import (
	"appserver/core/pure/history"
	"appserver/protocol"
)

// ApplyContext applies operations to the context as one edit.
type ApplyContext struct {
	To protocol.Caller
	// Client is the name of the client.
	Client string
	// Expected is the revision that the context must have, or nil for any.
	Expected   *int64
	Operations []protocol.ContextOperation
	// AtTurnEnd is set if the operations wait while a turn is active.
	AtTurnEnd bool
}

func (in ApplyContext) apply(s *step) { s.applyContext(in) }

// maxWaitingEdits bounds the requests whose operations wait for the end of a turn.
const maxWaitingEdits = 100

// applyContext plans all operations before it changes anything, so that one refused operation refuses
// all of them.
func (s *step) applyContext(in ApplyContext) {
	if s.rejectStale(in.To, in.Expected) {
		return
	}
	line, operations, err := s.context.PlanAll(in.Operations, s.state.SelectTurns)
	switch {
	case err != nil:
		s.reject(in.To, err)
	case in.AtTurnEnd && !s.isIdle() && len(s.waitingEdits) == maxWaitingEdits:
		s.reject(in.To, protocol.Refuse(protocol.KindTurnActive,
			"%d lists of edits wait for the end of the turn, and more are not accepted: repeat this one after it",
			maxWaitingEdits))
	case in.AtTurnEnd && s.resumable() != nil: // nothing holds the edits until its end
		s.reject(in.To, s.TurnUnderWay())
	case in.AtTurnEnd && !s.isIdle():
		s.waitingEdits = append(s.waitingEdits, waitingEdit{in.Client, operations})
		s.reply(in.To, protocol.ContextApplyResponse{Revision: s.context.Revision(), Usage: s.contextUsage()})
	default:
		edit, changes := s.commitAll(in.Client, line, operations)
		s.reply(in.To, protocol.ContextApplyResponse{Revision: s.context.Revision(), Edit: edit, Applied: true,
			Usage: s.contextUsage()})
		s.contextChanged(changes)
	}
}

// commitAll appends planned operations as one edit. It returns nil if nothing changes.
func (s *step) commitAll(
	client string, line protocol.StoredContextEdit, operations []protocol.ContextOperation,
) (*protocol.ContextEdit, []history.Change) {
	if len(line.Edits) == 0 {
		return nil, nil
	}
	before := len(s.out.Lines)
	if s.closeDanglingTurn(); len(s.out.Lines) > before { // calls may have got outputs, which are deleted with them
		line, _, _ = s.context.PlanAll(operations, s.state.SelectTurns)
	}
	line.ClientName = client
	changes := s.commitEdit(line)
	return &s.context.LastEdit().ContextEdit, changes
}

// waitingEdit is an edit that was accepted and waits for the end of the turn.
type waitingEdit struct {
	client     string
	operations []protocol.ContextOperation
}

// apply leaves out the operations that are refused by now, with a warning: what they name is gone, and
// the others were accepted already.
func (in waitingEdit) apply(s *step) {
	line, refused := s.context.PlanFitting(in.operations, s.state.SelectTurns)
	for _, err := range refused {
		s.warn([]string{"an edit that waited for the end of the turn is left out: " + err.Message})
	}
	_, changes := s.commitAll(in.client, line, in.operations)
	s.contextChanged(changes)
}

// HasWaitingEdits reports whether edits wait for the end of the turn.
func (t *Thread) HasWaitingEdits() bool { return len(t.waitingEdits) > 0 }
