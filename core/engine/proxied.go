package engine

import (
	"slices"
	"sync"
	"time"

	"appserver/protocol"
)

// Errand says how a request is served that stands for another one, whose method serves
// it.
type Proxied struct {
	// InTurn is set where it is served while a turn is under way, too.
	InTurn bool
	// TurnOf is set where the caller asked for a turn: it is the thread's id. The thread
	// must be loaded.
	TurnOf string
	// Answer makes the answer of that of the method. The turn is for callers who asked for
	// one: it is the turn that the method began, or the one under way, or else one of the
	// errand's own. Subscribers are told the beginning and the end of the latter as of any
	// other, and the thread does nothing else between.
	Answer func(result any, turn protocol.Turn) any
}

// Proxy calls serve, a method of the engine, as an errand.
func (e *Engine) Proxy(to protocol.Caller, errand Proxied, serve func() error) error {
	e.proxied.add(to, errand)
	err := serve()
	if err != nil {
		e.proxied.remove(to)
	}
	return err
}

// errand is one under way. Its fields belong to the goroutine of the thread that serves
// it, or, where it is served without one, to whoever answers it.
type proxiedRequest struct {
	Proxied
	to     protocol.Caller
	thread *actor
	// last is the thread's last turn before, audience are its subscribers.
	last       string
	recipients []uint64
	// own is the errand's own turn, which is to end at a time.
	own *protocol.Turn
	due time.Time
}

// errands are those without an answer.
type proxiedRequests struct {
	mu   sync.Mutex
	open map[protocol.Caller]*proxiedRequest
}

func (s *proxiedRequests) add(to protocol.Caller, e Proxied) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[to] = &proxiedRequest{Proxied: e, to: to}
}

// of is the errand of a caller; nil without one.
func (s *proxiedRequests) of(to protocol.Caller) *proxiedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[to]
}

func (s *proxiedRequests) remove(to protocol.Caller) *proxiedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.open[to]
	delete(s.open, to)
	return e
}

// errandOutbox answers errands as they want it.
type proxyOutbox struct {
	Outbox
	pending *proxiedRequests
}

// Reply answers a request.
func (o proxyOutbox) Reply(to protocol.Caller, result any) {
	if e := o.pending.remove(to); e != nil {
		e.reply(o.Outbox, result)
		return
	}
	o.Outbox.Reply(to, result)
}

// Refuse answers a request with an error.
func (o proxyOutbox) Refuse(to protocol.Caller, err *protocol.Error) {
	o.pending.remove(to)
	o.Outbox.Refuse(to, err)
}

// begin tells why a thread cannot be asked now. What is no errand is asked anyway.
func (e *proxiedRequest) begin(a *actor) *protocol.Error {
	switch {
	case e == nil:
		return nil
	case a.thread == nil && e.TurnOf != "":
		return errNotLoaded(a.id)
	case a.thread == nil:
		return nil
	}
	if a.releaseTurn(); a.thread == nil {
		return a.absence()
	}
	e.thread, e.last, e.recipients = a, a.thread.LastTurn().ID, slices.Clone(a.subscribers)
	if e.InTurn {
		return nil
	}
	return a.thread.TurnUnderWay()
}

func (e *proxiedRequest) reply(out Outbox, result any) {
	switch {
	case e.TurnOf == "":
		out.Reply(e.to, e.Answer(result, protocol.Turn{}))
	case e.thread == nil:
		out.Refuse(e.to, errNotLoaded(e.TurnOf))
	default:
		out.Reply(e.to, e.Answer(result, e.turn()))
		e.notifyStarted()
	}
}

func (e *proxiedRequest) turn() protocol.Turn {
	if t := e.thread.thread; t != nil && (t.ActiveTurn() != "" || t.LastTurn().ID != e.last) {
		return t.LastTurn()
	}
	id, now := e.thread.engine.NewID(), time.Now()
	e.due = now.Add(e.thread.engine.CompletedFloor)
	e.own = &protocol.Turn{
		ID: id, RootTurnID: &id, Items: []protocol.ThreadItem{}, ItemsView: protocol.ItemsNotLoaded, Status: protocol.TurnCompleted,
		StartedAt: new(now.Unix()), CompletedAt: new(now.Unix()), DurationMs: new(int64(0)),
	}
	return *e.own
}

func (e *proxiedRequest) notifyStarted() {
	if e.own == nil {
		return
	}
	begun := *e.own
	begun.Status, begun.CompletedAt, begun.DurationMs = protocol.TurnInProgress, nil, nil
	e.notify(protocol.TurnStartedNotification{ThreadID: e.TurnOf, Turn: begun})
}

// end tells the end of the errand's own turn. Two widespread clients lose one that comes
// together with the answer; so it waits as other turns do, see core.Options.
func (e *proxiedRequest) end() {
	if e == nil || e.own == nil {
		return
	}
	select {
	case <-time.After(time.Until(e.due)):
	case <-e.thread.quit:
	}
	e.notify(protocol.TurnCompletedNotification{ThreadID: e.TurnOf, Turn: *e.own})
}

func (e *proxiedRequest) notify(n protocol.Notification) {
	for _, conn := range e.recipients {
		e.thread.engine.Outbox.Notify(conn, n)
	}
}
