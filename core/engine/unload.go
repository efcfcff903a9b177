package engine

import (
	"errors"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// close unloads the thread. All other functions that unload a thread end here. They differ in what the clients get, in
// what happens to the turn, and in closeJournal, one of the ways of [store.Journal] to close the journal.
func (a *actor) close(closeJournal func() error) {
	a.ready.Store(false)
	a.turn.Store(nil)
	a.current.Store(nil)
	a.unanswered.Store(nil)
	a.cancelEffects()
	a.generation++
	if a.thread != nil {
		a.refuseWaiting(errUnloaded(a.id))
	}
	if err := closeJournal(); err != nil {
		a.engine.parts.Log.Error("closing the rollout failed", zap.String("thread", a.id), zap.Error(err))
		a.notify(protocol.WarningNotification{ThreadID: &a.id, Message: err.Error()})
	}
	a.closeLineReader()
	a.closeServers()
	a.journal, a.thread, a.scope, a.subscribers, a.formerSubscribers, a.at, a.withoutBackup = ephemeral{}, nil, nil, nil,
		nil, store.Ref{}, nil
}

// closeThread unloads the thread and closes its journal as it is.
func (a *actor) closeThread() { a.close(a.journal.Close) }

// unload unloads the thread, and rewrites its rollout for other programs, if that is enabled. After a panic of the
// rewrite, the rollout keeps its lines.
func (a *actor) unload() {
	a.journal.SetIdle(false)
	if err := a.reopenJournal(); err != nil {
		a.engine.parts.Log.Warn("the rollout is not rewritten", zap.String("thread", a.id), zap.Error(err))
		a.closeThread()
		return
	}
	if a.thread == nil {
		a.closeThread()
		return
	}
	a.close(func() (err error) {
		rewrite := func() { err = a.journal.CloseRewritten(a.projection()) }
		if fault := a.engine.catchPanic(rewrite, zap.String("thread", a.id)); fault != nil {
			err = errors.Join(fault, a.journal.Close())
		}
		return err
	})
}

// projection returns the rewrite of the rollout for other programs, or nil if the rollout gets all of its lines.
func (a *actor) projection() rollout.Projection {
	if !a.config().RewriteOnUnload {
		return nil
	}
	return a.redactedProjection(a.thread.Projection())
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
	a.notifyTo(left, statusNotLoaded(a.id), protocol.ThreadClosedNotification{ThreadID: a.id})
}

// closeBroken unloads a thread that failed to reload.
func (a *actor) closeBroken() {
	a.notify(protocol.ThreadClosedNotification{ThreadID: a.id})
	a.thread = nil // its list of waiting requests may be broken
	a.closeThread()
}

// closeLost unloads a thread that another program may write now. Its turn fails, and its commands end. A turn
// that waits for an answer only does not fail, because the next owner continues it.
func (a *actor) closeLost() {
	a.engine.parts.Log.Warn("the thread is closed, because another program may write it", zap.String("thread", a.id))
	if a.thread == nil {
		a.closeThread()
		return
	}
	failure := a.beforeStep()
	failure.Err = &store.LostError{ID: a.id, Err: errors.New("another server may write the thread now")}
	a.closeFailed(failure)
}

// closeFailed ends the turn of a thread whose log cannot be used, and unloads the thread. A turn that waited
// for an answer only does not end, because the log still has it. The next load continues it.
func (a *actor) closeFailed(failure core.StorageFailed) {
	if failure.Waits {
		failure.Turn = ""
	}
	a.deliver(a.thread.Step(a.engine.stamp(), failure))
	a.notify(protocol.ThreadClosedNotification{ThreadID: a.id})
	a.closeThread()
}

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
