package engine

import (
	"slices"
	"sync"
	"time"

	"appserver/core"
	"appserver/protocol"
)

// Proxied describes a request that another method serves, such as a slash command.
type Proxied struct {
	// InTurn allows the request while a turn is active.
	InTurn bool
	// TurnOf is the id of the thread if the response contains a turn, or empty. The thread must
	// be loaded.
	TurnOf string
	// Answer converts the result of the method to the response. The turn is set if TurnOf is:
	// the turn that the method started, or the active turn, or else a turn of the request's own.
	// Subscribers are notified of the start and the end of an own turn. It ends before the next
	// turn of the thread starts.
	Answer func(result any, turn protocol.Turn) any
}

// ownTurn is a proxied request whose own turn has started and not ended. The timer ends it.
type ownTurn struct {
	request *proxiedRequest
	timer   *time.Timer
}

// Proxy serves a request by another method of the engine.
func (e *Engine) Proxy(to protocol.Caller, p Proxied, serve func() error) error {
	e.proxied.add(to, p)
	err := serve()
	if err != nil {
		e.proxied.remove(to)
	}
	return err
}

// proxiedRequests are the proxied requests without a response.
type proxiedRequests struct {
	mu   sync.Mutex
	open map[protocol.Caller]*proxiedRequest
}

func (s *proxiedRequests) add(to protocol.Caller, p Proxied) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[to] = &proxiedRequest{Proxied: p, to: to}
}

// of returns the proxied request of a caller, or nil.
func (s *proxiedRequests) of(to protocol.Caller) *proxiedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[to]
}

func (s *proxiedRequests) remove(to protocol.Caller) *proxiedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.open[to]
	delete(s.open, to)
	return p
}

// proxyAnswers converts the results of proxied requests.
type proxyAnswers struct {
	out     Answers
	pending *proxiedRequests
}

// Reply sends the result of a request.
func (o proxyAnswers) Reply(to protocol.Caller, result any) {
	if p := o.pending.remove(to); p != nil {
		p.reply(o.out, result)
		return
	}
	o.out.Reply(to, result)
}

// Refuse rejects a request.
func (o proxyAnswers) Refuse(to protocol.Caller, err *protocol.Error) {
	o.pending.remove(to)
	o.out.Refuse(to, err)
}

// proxiedRequest is a pending proxied request. Its fields belong to the goroutine of its thread;
// without a thread, they belong to the goroutine that replies.
type proxiedRequest struct {
	Proxied
	to     protocol.Caller
	thread *actor
	// last is the id of the thread's last turn before the request.
	last string
	// recipients are the subscribers of the thread at the time of the request. An archived thread
	// has none, and they are still notified of the end of the own turn.
	recipients []uint64
	// own is the request's own turn, or nil. It ends at due.
	own *protocol.Turn
	due time.Time
}

// begin returns an error if the thread cannot serve the request now. It accepts nil, a request
// that is not proxied.
func (p *proxiedRequest) begin(a *actor) *protocol.Error {
	switch {
	case p == nil:
		return nil
	case a.thread == nil && p.TurnOf != "":
		return errNotLoaded(a.id)
	case a.thread == nil:
		return nil
	}
	if a.releaseTurn(); a.thread == nil {
		return a.absence()
	}
	p.thread, p.last, p.recipients = a, a.thread.LastTurn().ID, slices.Clone(a.subscribers)
	if p.InTurn {
		return nil
	}
	return a.thread.TurnUnderWay()
}

func (p *proxiedRequest) reply(out Answers, result any) {
	switch {
	case p.TurnOf == "":
		out.Reply(p.to, p.Answer(result, protocol.Turn{}))
	case p.thread == nil:
		out.Refuse(p.to, errNotLoaded(p.TurnOf))
	default:
		out.Reply(p.to, p.Answer(result, p.turn()))
		p.notifyStarted()
	}
}

// turn returns the turn for the response.
func (p *proxiedRequest) turn() protocol.Turn {
	if t := p.thread.thread; t != nil && (t.ActiveTurn() != "" || t.LastTurn().ID != p.last) {
		return t.LastTurn()
	}
	id, now := p.thread.engine.parts.NewID(), time.Now()
	p.due = now.Add(p.thread.engine.parts.CompletedFloor)
	p.own = &protocol.Turn{
		ID: id, RootTurnID: &id, Items: []protocol.ThreadItem{}, ItemsView: protocol.ItemsNotLoaded,
		Status:    protocol.TurnCompleted,
		StartedAt: new(now.Unix()), CompletedAt: new(now.Unix()), DurationMs: new(int64(0)),
	}
	return *p.own
}

func (p *proxiedRequest) notifyStarted() {
	if p.own == nil {
		return
	}
	p.thread.endOwnTurn()
	started := *p.own
	started.Status, started.CompletedAt, started.DurationMs = protocol.TurnInProgress, nil, nil
	p.notify(protocol.TurnStartedNotification{ThreadID: p.TurnOf, Turn: started})
}

func (p *proxiedRequest) notify(n protocol.Notification) {
	for _, conn := range p.recipients {
		p.thread.engine.parts.Outbox.Notify(conn, n)
	}
}

// scheduleEnd ends the own turn of a proxied request when it is due. Two widespread clients lose
// a turn/completed that comes together with the response, see core.Options.CompletedFloor.
// It accepts nil and requests without an own turn.
func (a *actor) scheduleEnd(p *proxiedRequest) {
	if p == nil || p.own == nil {
		return
	}
	a.ownTurn = &ownTurn{request: p}
	delay := time.Until(p.due)
	if delay <= 0 {
		a.endOwnTurn()
		return
	}
	a.ownTurn.timer = time.NewTimer(delay)
}

// ownTurnDue returns the channel of the timer, or nil without an own turn.
func (a *actor) ownTurnDue() <-chan time.Time {
	if a.ownTurn == nil {
		return nil
	}
	return a.ownTurn.timer.C
}

// startsTurn reports whether a message notifies of the start of a turn.
func startsTurn(m core.Message) bool {
	notice, ok := m.(core.Notice)
	if !ok {
		return false
	}
	_, ok = notice.Notification.(protocol.TurnStartedNotification)
	return ok
}

// endOwnTurn ends the own turn of a proxied request, if there is one.
func (a *actor) endOwnTurn() {
	if a.ownTurn == nil {
		return
	}
	if a.ownTurn.timer != nil {
		a.ownTurn.timer.Stop()
	}
	p := a.ownTurn.request
	a.ownTurn = nil
	p.notify(protocol.TurnCompletedNotification{ThreadID: p.TurnOf, Turn: *p.own})
}
