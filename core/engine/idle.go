package engine

import (
	"time"

	"appserver/core"
	"appserver/protocol"
)

// updateUnloadTimer runs the timer while the thread is unused.
func (a *actor) updateUnloadTimer() {
	switch {
	case !a.isUnused():
		if a.unloadTimer != nil {
			a.unloadTimer.Stop()
			a.unloadTimer = nil
		}
	case a.unloadTimer == nil:
		if delay := a.engine.parts.Setup.UnloadDelay(a.scope); delay >= 0 {
			a.unloadTimer = time.NewTimer(delay)
		}
	}
}

func (a *actor) isUnused() bool {
	return a.thread != nil && len(a.subscribers) == 0 && len(a.effects) == 0 && a.thread.ActiveTurn() == "" &&
		a.ownTurn == nil
}

// unloadDue returns the channel of the timer, or nil.
func (a *actor) unloadDue() <-chan time.Time {
	if a.unloadTimer == nil {
		return nil
	}
	return a.unloadTimer.C
}

// unloadUnused unloads the thread and notifies its former subscribers. Waiting requests are served
// first, because they may subscribe.
func (a *actor) unloadUnused() {
	a.unloadTimer = nil
	if len(a.requests) > 0 {
		return
	}
	left := a.formerSubscribers
	a.unload()
	a.sendTo(left, []core.Message{
		core.Notice{Notification: statusNotLoaded(a.id)},
		core.Notice{Notification: protocol.ThreadClosedNotification{ThreadID: a.id}},
	})
}
