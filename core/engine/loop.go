package engine

import (
	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
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
		a.engine.refuse(r.to, err)
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
	switch done := in.(type) {
	case core.ToolDone:
		a.warnWithheld(done.Result.Withheld)
	case core.AgentsCalled:
		a.engine.agents.begin(a.engine, done.States)
	}
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
