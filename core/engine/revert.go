package engine

import (
	"appserver/core"
	"appserver/protocol"
)

// ThreadRevert reverts a thread, loaded or not, to the start of a turn.
func (e *Engine) ThreadRevert(to protocol.Caller, p *protocol.ThreadRevertParams) error {
	return e.changeThread(to, p.ThreadID, core.Revert{To: to, Before: &p.BeforeTurnID})
}

// ThreadRollback reverts the last turns of a thread, loaded or not.
func (e *Engine) ThreadRollback(to protocol.Caller, p *protocol.ThreadRollbackParams) error {
	if p.NumTurns == 0 {
		return protocol.InvalidParams("numTurns", "`numTurns` must be at least 1")
	}
	return e.changeThread(to, p.ThreadID, core.Revert{To: to, Last: p.NumTurns})
}
