package engine

import (
	"runtime"
	"sync"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout/store"
)

// broadcastContext sends the context items to each subscriber: all of them, or the changes if the
// client keeps the list. Other clients do not get the new items of an active turn; they get the list at its end.
func (a *actor) broadcastContext(c core.ContextChanged) {
	runtime.Gosched() // the response is written first: the list takes longer to make than the edit
	full := sync.OnceValue(a.thread.ContextItems)
	changes := sync.OnceValue(func() protocol.ContextItemsNotification { return a.thread.ContextChanges(c) })
	for _, conn := range a.subscribers {
		list := full
		if a.engine.wantsChanges(conn) {
			list = changes
		} else if c.OnlyNew {
			continue
		}
		n := list()
		if a.readError() != nil {
			return // the thread is reloaded after the step, and the full list sent
		}
		a.engine.parts.Outbox.Notify(conn, n)
	}
}

func (e *Engine) wantsChanges(conn uint64) bool {
	return e.parts.Clients.WantsChanges != nil && e.parts.Clients.WantsChanges(conn)
}

// checkBackup returns an error if the thread was loaded without its backup. If the backup is
// required, it also returns an error if there is none or it is damaged.
func (a *actor) checkBackup(asked bool) error {
	switch {
	case asked && a.options.Ephemeral:
		return protocol.Refuse(protocol.KindBackupMismatch, "the thread has no rollout, so it has no backup")
	case !asked && a.withoutBackup == nil:
		return nil
	}
	if err := a.engine.parts.Threads.Check(a.at, store.OpRestore); err != nil {
		return err
	}
	if a.withoutBackup != nil {
		return protocol.Refuse(protocol.KindBackupMismatch,
			"the backup is readable now, but the thread was loaded without it (%v); restart the server, resume the thread and retry", a.withoutBackup)
	}
	return nil
}
