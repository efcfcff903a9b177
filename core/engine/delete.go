package engine

import (
	"appserver/protocol"
	"appserver/rollout/store"
)

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

// delete ends the active turn and unloads the thread before it deletes the rollout. If a check
// fails, the thread stays loaded and the turn continues.
func (a *actor) delete(to protocol.Caller) {
	if err := a.checkDelete(); err != nil {
		a.engine.refuse(to, err)
		return
	}
	if a.endTurn(); a.thread == nil {
		a.deleteStored(to, nil)
		return
	}
	a.subscribe(to.Conn)
	subscribers := a.subscribers
	a.endTerminals()
	a.closeThread()
	a.notifyTo(subscribers, statusNotLoaded(a.id))
	a.deleteStored(to, subscribers)
}

func (a *actor) checkDelete() error {
	if a.options.Ephemeral {
		return protocol.Refuse(protocol.KindInvalidRequest, "thread is not persisted and cannot be deleted: %s", a.id)
	}
	return a.engine.parts.Threads.Check(a.at, store.OpDelete)
}

// deleteStored deletes a thread that is not loaded. If that fails, it notifies the former
// subscribers that the thread is closed.
func (a *actor) deleteStored(to protocol.Caller, subscribers []uint64) {
	err := a.engine.deleteAgents(to, a.id)
	if err == nil {
		err = a.engine.parts.Threads.Delete(a.id)
	}
	if err != nil {
		a.notifyTo(subscribers, protocol.ThreadClosedNotification{ThreadID: a.id})
		a.engine.parts.Outbox.Refuse(to, archiveError(err))
		return
	}
	a.engine.forgetThread(a.id)
	a.engine.parts.Outbox.Reply(to, protocol.Empty{})
	if subscribers == nil {
		subscribers = []uint64{to.Conn}
	}
	a.notifyTo(subscribers, protocol.ThreadDeletedNotification{ThreadID: a.id})
}
