package engine

import (
	"time"

	"appserver/core"
	"appserver/protocol"
)

// watch counts the time in which nobody is subscribed to the thread, and nothing of it is
// under way.
func (a *actor) watch() {
	switch {
	case !a.alone():
		if a.lonely != nil {
			a.lonely.Stop()
			a.lonely = nil
		}
	case a.lonely == nil:
		if delay := a.engine.Setup.UnloadDelay(a.scope); delay >= 0 {
			a.lonely = time.NewTimer(delay)
		}
	}
}

func (a *actor) alone() bool {
	return a.thread != nil && len(a.subscribers) == 0 && len(a.effects) == 0 && a.thread.ActiveTurn() == ""
}

// abandoned fires when that was long enough.
func (a *actor) abandoned() <-chan time.Time {
	if a.lonely == nil {
		return nil
	}
	return a.lonely.C
}

// abandon unloads the thread. Requests that have come meanwhile are served first: they may
// subscribe, and otherwise load it again. Those who had subscribed are told.
func (a *actor) abandon() {
	a.lonely = nil
	if len(a.requests) > 0 {
		return
	}
	left := a.left
	a.unload()
	a.sayTo(left, []core.Message{
		core.Notice{Notification: notLoadedNow(a.id)},
		core.Notice{Notification: protocol.ThreadClosedNotification{ThreadID: a.id}},
	})
}
