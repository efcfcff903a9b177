package engine

import (
	"appserver/core"
	"appserver/protocol"
)

// ThreadRevert takes a turn and all behind it out of a thread, loaded or not.
func (e *Engine) ThreadRevert(to protocol.Caller, p *protocol.ThreadRevertParams) error {
	return e.changeThread(to, p.ThreadID, core.Revert{To: to, Before: &p.BeforeTurnID})
}

// ThreadRollback takes the last turns out of a thread, loaded or not.
func (e *Engine) ThreadRollback(to protocol.Caller, p *protocol.ThreadRollbackParams) error {
	if p.NumTurns == 0 {
		return protocol.InvalidParams("numTurns", "`numTurns` must be at least 1")
	}
	return e.changeThread(to, p.ThreadID, core.Revert{To: to, Last: p.NumTurns})
}

// ThreadMetadataUpdate changes what is told of a thread, loaded or not.
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
		if world, err := a.worldOf(a.thread.Settings()); err == nil || notReady(err) {
			in.World = &world
		}
		a.step(in)
	})
}

// ThreadDelete deletes a thread, loaded or not, archived or not.
func (e *Engine) ThreadDelete(to protocol.Caller, p *protocol.ThreadDeleteParams) error {
	if err := checkID("invalid thread id", p.ThreadID); err != nil {
		return err
	}
	_, err := e.post(p.ThreadID, true, request{
		to: to, do: func(a *actor) { a.delete(to) },
		absent: func(a *actor) { a.deleteStored(to, nil) },
	})
	return err
}

// delete ends the turn under way and unloads the thread first, so that nobody writes to what
// goes. A refusal that can be foreseen leaves it loaded, and the turn goes on.
func (a *actor) delete(to protocol.Caller) {
	if err := a.checkDelete(); err != nil {
		a.engine.Outbox.Refuse(to, coded(err))
		return
	}
	if a.endTurn(); a.thread == nil {
		a.deleteStored(to, nil)
		return
	}
	a.subscribe(to.Conn)
	subscribers := a.subscribers
	a.endTerminals()
	a.letGo()
	a.sayTo(subscribers, []core.Message{core.Notice{Notification: notLoadedNow(a.id)}})
	a.deleteStored(to, subscribers)
}

func (a *actor) checkDelete() error {
	if a.path == "" {
		return protocol.Refuse(protocol.KindInvalidRequest, "thread is not persisted and cannot be deleted: %s", a.id)
	}
	return a.engine.notGoneOnFrom(a.id)
}

// notGoneOnFrom makes sure that no other thread goes on from the lines of this one.
func (e *Engine) notGoneOnFrom(id string) error {
	if e.Index != nil {
		if known, err := e.Index.CheckDelete(id); known {
			return err
		}
	}
	return e.Store.CheckDelete(id)
}

// deleteStored deletes a thread that is not loaded, or not any more. Where that fails, those
// who had it loaded are told that it is closed.
func (a *actor) deleteStored(to protocol.Caller, subscribers []uint64) {
	err := a.engine.notGoneOnFrom(a.id)
	if err == nil {
		err = a.engine.Store.Remove(a.id)
	}
	if err != nil {
		a.sayTo(subscribers, []core.Message{core.Notice{Notification: protocol.ThreadClosedNotification{ThreadID: a.id}}})
		a.engine.Outbox.Refuse(to, notArchived(err))
		return
	}
	a.engine.forgetFiles(a.id)
	a.engine.Outbox.Reply(to, protocol.Empty{})
	if subscribers == nil {
		subscribers = []uint64{to.Conn}
	}
	a.sayTo(subscribers, []core.Message{core.Notice{Notification: protocol.ThreadDeletedNotification{ThreadID: a.id}}})
}

func notLoadedNow(id string) protocol.Notification {
	return protocol.ThreadStatusChangedNotification{ThreadID: id, Status: protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusNotLoaded{}}}
}
