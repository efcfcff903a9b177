package engine

import (
	"strings"

	"appserver/core"
	"appserver/protocol"
)

// ThreadMemoryModeSet turns the memory of a thread off or on, loaded or not.
func (e *Engine) ThreadMemoryModeSet(to protocol.Caller, p *protocol.ThreadMemoryModeSetParams) error {
	return e.changeThread(to, p.ThreadID, core.SetMemoryMode{To: to, Mode: string(p.Mode)})
}

// ThreadSetName sets the name of a thread, loaded or not.
func (e *Engine) ThreadSetName(to protocol.Caller, p *protocol.ThreadSetNameParams) error {
	name := strings.TrimSpace(p.Name)
	if name == "" {
		return &protocol.Error{Code: protocol.CodeInvalidParams, Message: "thread name must not be empty",
			Data: &protocol.ErrorData{Kind: protocol.KindInvalidParams, Field: "name"}}
	}
	return e.changeThread(to, p.ThreadID, core.SetName{To: to, Name: name})
}

// ThreadMetadataUpdate changes the metadata of a thread, loaded or not.
func (e *Engine) ThreadMetadataUpdate(to protocol.Caller, p *protocol.ThreadMetadataUpdateParams) error {
	switch {
	case p.GitInfo == nil:
		return protocol.Refuse(protocol.KindInvalidRequest, "thread metadata update must include at least one field")
	case *p.GitInfo == (protocol.ThreadMetadataGitInfoUpdateParams{}):
		return protocol.Refuse(protocol.KindInvalidRequest, "gitInfo must include at least one field")
	}
	return e.changeThread(to, p.ThreadID, core.SetMetadata{To: to, Git: *p.GitInfo})
}

// ThreadInjectItems adds entries to the history of a loaded thread.
func (e *Engine) ThreadInjectItems(to protocol.Caller, p *protocol.ThreadInjectItemsParams) error {
	items, err := p.Decode()
	if err != nil {
		return err
	}
	return e.toThread(to, p.ThreadID, func(a *actor) {
		in := core.InjectItems{To: to, Items: items}
		if env, err := a.turnEnv(a.thread.Settings()); err == nil || notReady(err) {
			in.Env = &env
		}
		a.step(in)
	})
}

// ThreadRevert reverts a thread, loaded or not, to the start of a turn.
func (e *Engine) ThreadRevert(to protocol.Caller, p *protocol.ThreadRevertParams) error {
	return e.changeThread(to, p.ThreadID, core.Revert{To: to, Before: &p.BeforeTurnID, ExpectedLast: p.ExpectedLastTurnID})
}

// ThreadRevertUndo undoes the last revert of a thread, loaded or not.
func (e *Engine) ThreadRevertUndo(to protocol.Caller, p *protocol.ThreadRevertUndoParams) error {
	return e.changeThread(to, p.ThreadID, core.UndoRevert{To: to, Expected: p.ExpectedTurnID})
}

// ThreadRollback reverts the last turns of a thread, loaded or not.
func (e *Engine) ThreadRollback(to protocol.Caller, p *protocol.ThreadRollbackParams) error {
	if p.NumTurns == 0 {
		return protocol.InvalidParams("numTurns", "`numTurns` must be at least 1")
	}
	return e.changeThread(to, p.ThreadID, core.Revert{To: to, Last: p.NumTurns, ExpectedLast: p.ExpectedLastTurnID})
}

// ThreadContextSummarize sets the summary of a trim point.
func (e *Engine) ThreadContextSummarize(to protocol.Caller, p *protocol.ThreadContextSummarizeParams) error {
	in := core.SummarizeContext{To: to, Client: e.parts.Clients.Originator(to.Conn),
		Point: p.TrimPointID, Summary: p.Summary}
	if p.CompactDurationMs != nil {
		in.TookMs = new(int64(*p.CompactDurationMs))
	}
	return e.changeThread(to, p.ThreadID, in)
}

// ThreadContextTrim trims the context.
func (e *Engine) ThreadContextTrim(to protocol.Caller, p *protocol.ThreadContextTrimParams) error {
	in := core.TrimContext{To: to, Client: e.parts.Clients.Originator(to.Conn), Summary: p.Summary,
		ExpectedLast: p.ExpectedLastTurnID}
	if p.KeepLastNTurns != nil {
		in.KeepLast = *p.KeepLastNTurns
	}
	return e.changeThread(to, p.ThreadID, in)
}
