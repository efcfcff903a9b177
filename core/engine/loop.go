package engine

import (
	"errors"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

func (a *actor) run() {
	defer close(a.gone)
	a.dropDisconnected()
	for {
		results := a.results
		clear := a.congestion()
		if clear != nil {
			results = nil
		}
		a.journal.SetIdle(a.isIdle())
		select {
		case r := <-a.requests:
			a.runRecovered(&r.to, func() { a.serve(r) })
		case r := <-results:
			a.runRecovered(nil, func() { a.handleResult(r) })
		case <-clear:
		case <-a.disconnected:
			a.dropDisconnected()
		case <-a.describeDue:
			a.runRecovered(nil, a.describe)
		case <-a.journal.Lost():
			a.runRecovered(nil, a.closeLost)
		case <-a.unloadDue():
			a.unloadUnused()
		case <-a.ownTurnDue():
			a.endOwnTurn()
		case <-a.quit:
			a.drain()
			a.unload()
			a.engine.forget(a)
			return
		}
		a.updateUnloadTimer()
		if a.thread == nil && a.ownTurn == nil && a.engine.forget(a) {
			return
		}
	}
}

// serve serves a request, unless its client is behind. The check is repeated here, because many
// requests can be accepted at once, and each response may contain the whole thread.
func (a *actor) serve(r request) {
	if !r.urgent && a.engine.parts.Outbox.Behind(r.to.Conn) {
		a.engine.parts.Outbox.Refuse(r.to, errBehind())
		return
	}
	select {
	case <-a.journal.Lost(): // the lease may have ended since the request came, and the thread be stale
		a.closeLost()
	default:
	}
	proxied := a.engine.proxied.of(r.to)
	if err := proxied.begin(a); err != nil {
		a.engine.parts.Outbox.Refuse(r.to, err)
		return
	}
	a.handle(r)
	a.scheduleEnd(proxied)
}

// drain serves the accepted requests, ends the turn and waits for its effects.
func (a *actor) drain() {
	for len(a.requests) > 0 {
		r := <-a.requests
		a.runRecovered(&r.to, func() { a.serve(r) })
	}
	a.endOwnTurn()
	if a.thread == nil {
		return
	}
	a.runRecovered(nil, func() { a.step(core.Shutdown{}) })
	for len(a.effects) > 0 {
		r := <-a.results
		a.runRecovered(nil, func() { a.handleResult(r) })
	}
}

func (a *actor) handle(r request) {
	if err := a.reopenJournal(); err != nil && r.to != (protocol.Caller{}) {
		a.engine.parts.Outbox.Refuse(r.to, withCode(err))
		return
	}
	switch {
	case a.thread != nil:
		r.do(a)
	case r.absent != nil:
		r.absent(a)
	default:
		a.engine.parts.Outbox.Refuse(r.to, a.absence())
	}
}

func (a *actor) handleResult(r result) {
	if a.reopenJournal() != nil || a.thread == nil || a.isStale(r) {
		return
	}
	in := r.in
	if end, ok := in.(endOfEffect); ok {
		delete(a.effects, end.id)
		in = end.Input
	}
	a.step(in)
	if done, ok := in.(core.ToolDone); ok {
		a.warnWithheld(done.Result.Withheld)
	}
}

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

// endTurn interrupts the turn under way, and those that begin while it ends. It returns when
// they have ended: each effect ends within cancelGrace. A disk failure may unload the thread.
func (a *actor) endTurn() {
	asked := ""
	for a.thread != nil && a.thread.ActiveTurn() != "" {
		if turn := a.thread.ActiveTurn(); turn != asked {
			asked = turn
			a.runRecovered(nil, func() { a.step(core.EndTurn{}) })
			continue
		}
		r := <-a.results
		a.runRecovered(nil, func() { a.handleResult(r) })
	}
}

// releaseTurn completes a turn that has ended and whose turn/completed is held back.
func (a *actor) releaseTurn() {
	if a.thread != nil && a.thread.ActiveTurn() != "" {
		a.step(core.ReleaseTurn{})
	}
}

// runRecovered runs do, a part of the thread's work. After a panic it reloads the thread, because
// the state may be half changed. The caller, if there is one, gets an internal error. Other threads
// continue.
func (a *actor) runRecovered(to *protocol.Caller, do func()) {
	of := zap.String("thread", a.id)
	a.journal.SetIdle(false)
	fault := a.engine.catchPanic(do, of)
	if fault == nil {
		return
	}
	if to != nil {
		a.engine.parts.Outbox.Refuse(*to, fault) // no effect after a response
	}
	a.describeDue = nil // describing may be the cause of the panic
	if a.thread == nil {
		return
	}
	reload := func() {
		failure := a.beforeStep()
		failure.Err = fault
		a.recover(failure, core.Output{}, true)
	}
	if a.engine.catchPanic(reload, of) != nil {
		a.closeBroken()
	}
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
