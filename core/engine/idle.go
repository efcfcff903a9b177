package engine

import (
	"time"
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
		if delay := a.config().UnloadDelay; delay >= 0 {
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
