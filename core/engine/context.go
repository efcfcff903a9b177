package engine

import (
	"encoding/json"

	"appserver/core"
	"appserver/protocol"
)

// ContextGetItems lists what the model is sent.
func (e *Engine) ContextGetItems(to protocol.Caller, p *protocol.ContextGetItemsParams) error {
	return e.readThread(to, p.ThreadID, core.GetContextItems{To: to, Cursor: p.Cursor, Limit: p.Limit}, e.loadContext)
}

// ContextGetUsage tells what the context costs.
func (e *Engine) ContextGetUsage(to protocol.Caller, p *protocol.ContextGetUsageParams) error {
	return e.readThread(to, p.ThreadID, core.GetContextUsage{To: to}, e.loadContext)
}

// ContextListEdits lists the edits of the context.
func (e *Engine) ContextListEdits(to protocol.Caller, p *protocol.ContextListEditsParams) error {
	return e.readThread(to, p.ThreadID, core.ListContextEdits{To: to}, e.loadContext)
}

// ContextPreview tells what edits would do.
func (e *Engine) ContextPreview(to protocol.Caller, p *protocol.ContextPreviewParams) error {
	return e.readThread(to, p.ThreadID, core.PreviewContext{To: to, Operations: p.Edits}, e.loadContext)
}

// ContextSetInclusion excludes items, or includes them again.
func (e *Engine) ContextSetInclusion(to protocol.Caller, p *protocol.ContextSetInclusionParams) error {
	return e.editContext(to, p.ContextRequest, &p.SetInclusion)
}

// ContextPruneByIndices deletes items.
func (e *Engine) ContextPruneByIndices(to protocol.Caller, p *protocol.ContextPruneByIndicesParams) error {
	return e.editContext(to, p.ContextRequest, &p.PruneByIndices)
}

// ContextPrune excludes items by category.
func (e *Engine) ContextPrune(to protocol.Caller, p *protocol.ContextPruneParams) error {
	return e.editContext(to, p.ContextRequest, &p.Prune)
}

// ContextPin pins items, or unpins them.
func (e *Engine) ContextPin(to protocol.Caller, p *protocol.ContextPinParams) error {
	return e.editContext(to, p.ContextRequest, &p.Pin)
}

// ContextReplace gives an item another text.
func (e *Engine) ContextReplace(to protocol.Caller, p *protocol.ContextReplaceParams) error {
	return e.editContext(to, p.ContextRequest, &p.Replace)
}

func (e *Engine) editContext(to protocol.Caller, r protocol.ContextRequest, o protocol.ContextOperationVariant) error {
	return e.changeThread(to, r.ThreadID, core.EditContext{To: to, Expected: r.ExpectedRevision, Operation: o})
}

// ContextUndo takes back the last edit.
func (e *Engine) ContextUndo(to protocol.Caller, p *protocol.ContextUndoParams) error {
	return e.changeThread(to, p.ThreadID, core.UndoContext{To: to, Expected: p.ExpectedRevision})
}

// ContextRedo makes an edit again.
func (e *Engine) ContextRedo(to protocol.Caller, p *protocol.ContextRedoParams) error {
	return e.changeThread(to, p.ThreadID, core.RedoContext{To: to, Expected: p.ExpectedRevision})
}

// ContextRestore brings the full context back.
func (e *Engine) ContextRestore(to protocol.Caller, p *protocol.ContextRestoreParams) error {
	in := core.RestoreContext{To: to, Expected: p.ExpectedRevision}
	return e.changeThreadIf(to, p.ThreadID, in, func(a *actor) error { return a.checkBackup(p.From != nil) })
}

// checkBackup makes sure that what the thread's backup holds was loaded with the thread;
// and, where the backup is asked for, that there is one and that it is whole.
func (a *actor) checkBackup(asked bool) error {
	switch {
	case asked && a.options.Ephemeral:
		return protocol.Refuse(protocol.KindBackupMismatch, "the thread is kept in memory only: it has no backup")
	case !asked && a.withoutBackup == nil:
		return nil
	}
	if err := a.engine.parts.Store.CheckBackup(a.path); err != nil {
		return err
	}
	if a.withoutBackup != nil {
		return protocol.Refuse(protocol.KindBackupMismatch, "the backup is in order now, but the thread was loaded without it (%v): end this server, resume the thread and try again", a.withoutBackup)
	}
	return nil
}

// ContextGetPrompt shows the next model request.
func (e *Engine) ContextGetPrompt(to protocol.Caller, p *protocol.ContextGetPromptParams) error {
	return e.viewThread(to, p.ThreadID, e.prompt)
}

// prompt is what a turn would send that began now. Where the thread cannot run as it is,
// nothing is known of its surroundings.
func (e *Engine) prompt(t *core.Thread, scope Scope) (any, error) {
	prompt, tokens := t.Prompt(), t.PromptTokens()
	if world, err := e.parts.Setup.World(scope, t.Settings()); err == nil || notReady(err) {
		if e.parts.Servers != nil {
			world.Tools, _ = e.parts.Servers.Tools(t.ID())
		}
		world.Memory = e.memoryRules(scope)
		prompt, tokens = t.NextPrompt(world)
	}
	messages, tools, err := e.parts.Model.Render(prompt)
	if err != nil {
		return nil, err
	}
	return protocol.ContextGetPromptResponse{
		Revision: t.ContextRevision(), Provider: prompt.Provider, Model: prompt.Model,
		Messages: listed(messages), Tools: listed(tools), Tokens: tokens,
	}, nil
}

func listed(list []json.RawMessage) []json.RawMessage {
	if list == nil {
		return []json.RawMessage{}
	}
	return list
}

// broadcastContext tells every subscriber of the context's items: all of them, or, where
// the client keeps the list, the changes.
func (a *actor) broadcastContext(c core.ContextChanged) {
	var full, changes *protocol.ContextItemsNotification
	for _, conn := range a.subscribers {
		told, of := &full, func() protocol.ContextItemsNotification { return a.thread.ContextItems() }
		if a.engine.wantsChanges(conn) {
			told, of = &changes, func() protocol.ContextItemsNotification { return a.thread.ContextChanges(c) }
		}
		if *told == nil {
			n := of()
			*told = &n
		}
		if a.readError() != nil {
			return // the step ends with all of it told
		}
		a.engine.parts.Outbox.Notify(conn, **told)
	}
}

func (e *Engine) wantsChanges(conn uint64) bool {
	return e.parts.WantsChanges != nil && e.parts.WantsChanges(conn)
}
