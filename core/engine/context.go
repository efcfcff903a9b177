package engine

import (
	"appserver/core"
	"appserver/protocol"
)

// ContextGetItems lists the context items.
func (e *Engine) ContextGetItems(to protocol.Caller, p *protocol.ContextGetItemsParams) error {
	return e.readThread(to, p.ThreadID, core.GetContextItems{To: to, Cursor: p.Cursor, Limit: p.Limit}, e.loadContext)
}

// ContextReadItem returns one item in full.
func (e *Engine) ContextReadItem(to protocol.Caller, p *protocol.ContextReadItemParams) error {
	return e.readThread(to, p.ThreadID, core.ReadContextItem{To: to, ID: p.ID}, e.loadContext)
}

// ContextSearch returns the items whose text has a match.
func (e *Engine) ContextSearch(to protocol.Caller, p *protocol.ContextSearchParams) error {
	return e.readThread(to, p.ThreadID, core.SearchContext{To: to, Query: p}, e.loadContext)
}

// ContextGetUsage returns the size of the context.
func (e *Engine) ContextGetUsage(to protocol.Caller, p *protocol.ContextGetUsageParams) error {
	return e.readThread(to, p.ThreadID, core.GetContextUsage{To: to}, e.loadContext)
}

// ContextListEdits lists the edits of the context.
func (e *Engine) ContextListEdits(to protocol.Caller, p *protocol.ContextListEditsParams) error {
	return e.readThread(to, p.ThreadID, core.ListContextEdits{To: to, WithItems: p.IncludeItems}, e.loadContext)
}

// ContextPreview returns the result of edits, or of another change, without applying them.
func (e *Engine) ContextPreview(to protocol.Caller, p *protocol.ContextPreviewParams) error {
	if err := p.Check(); err != nil {
		return err
	}
	in := core.PreviewContext{To: to, Operations: p.Edits, Change: p.PreviewedChange,
		Cache: e.parts.Config.Current().CacheFacts}
	if p.Compact == nil {
		return e.readThread(to, p.ThreadID, in, e.loadContext)
	}
	return e.toThreadBy(to, p.ThreadID, func(a *actor) (core.Input, error) {
		env, err := a.turnEnv(a.thread.Settings())
		if err != nil && !notReady(err) {
			return nil, err
		}
		in.Compaction = env.Compaction
		return a.inScope(in), nil
	})
}

// ContextSuggest returns the items that requests can do without.
func (e *Engine) ContextSuggest(to protocol.Caller, p *protocol.ContextSuggestParams) error {
	scope := e.parts.Config.Current()
	return e.readThread(to, p.ThreadID, core.SuggestContext{To: to, Goal: p.Goal, Rules: scope.Economy,
		Cache: scope.CacheFacts}, e.loadContext)
}

// ContextEdit applies an operation.
func (e *Engine) ContextEdit(to protocol.Caller, r protocol.ContextRequest, o protocol.ContextOperationVariant) error {
	return e.changeThread(to, r.ThreadID, core.EditContext{To: to, Client: e.parts.Clients.Originator(to.Conn),
		Expected: r.ExpectedRevision, Operation: o})
}

// ContextApply applies several edits as one.
func (e *Engine) ContextApply(to protocol.Caller, p *protocol.ContextApplyParams) error {
	return e.changeThread(to, p.ThreadID, core.ApplyContext{To: to, Client: e.parts.Clients.Originator(to.Conn),
		Expected: p.ExpectedRevision, Operations: p.Edits, AtTurnEnd: p.When != nil && *p.When == protocol.ApplyAtTurnEnd})
}

// ContextUndo undoes the last edit.
func (e *Engine) ContextUndo(to protocol.Caller, p *protocol.ContextUndoParams) error {
	return e.changeThread(to, p.ThreadID, core.UndoContext{To: to, Expected: p.ExpectedRevision})
}

// ContextRedo applies an undone edit again.
func (e *Engine) ContextRedo(to protocol.Caller, p *protocol.ContextRedoParams) error {
	return e.changeThread(to, p.ThreadID, core.RedoContext{To: to, Expected: p.ExpectedRevision})
}

// ContextGoto undoes or redoes edits up to a revision.
func (e *Engine) ContextGoto(to protocol.Caller, p *protocol.ContextGotoParams) error {
	return e.changeThread(to, p.ThreadID, core.GotoContext{To: to, Expected: p.ExpectedRevision, Revision: p.Revision})
}

// ContextRestore restores the full context from the backup.
func (e *Engine) ContextRestore(to protocol.Caller, p *protocol.ContextRestoreParams) error {
	in := core.RestoreContext{To: to, Client: e.parts.Clients.Originator(to.Conn), Expected: p.ExpectedRevision}
	return e.changeThreadBy(to, p.ThreadID, func(a *actor) (core.Input, error) { return in, a.checkBackup(p.From != nil) })
}
