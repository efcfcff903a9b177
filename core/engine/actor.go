package engine

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// Journal keeps the lines of a thread.
type Journal interface {
	// Append takes all lines or none. With sync they are on disk when it returns.
	Append(lines []protocol.RolloutLine, sync bool) error
	Close() error
}

// ephemeral is the journal of threads that keep nothing.
type ephemeral struct{}

func (ephemeral) Append([]protocol.RolloutLine, bool) error { return nil }
func (ephemeral) Close() error                              { return nil }

const (
	// mailbox is how many requests a thread holds before it is overloaded.
	mailbox = 128
	// resultBuffer is how many results wait for a thread before effects block.
	resultBuffer = 64
)

// request is something to do in a thread's goroutine. refuse is what it is told
// instead where the thread is gone.
type request struct {
	do     func(a *actor)
	refuse func(err *protocol.Error)
}

// result is an input of an effect. generation tells effects of a thread that was
// loaded anew from those before.
type result struct {
	generation int
	in         core.Input
}

// actor owns one thread. Its fields belong to its goroutine, but for the channels
// and the atomics.
type actor struct {
	engine   *Engine
	id       string
	requests chan request
	results  chan result
	quit     chan struct{} // closed by stop
	quitOnce sync.Once
	gone     chan struct{} // closed when run returns
	mu       sync.Mutex    // guards closed, and sends to requests
	closed   bool
	turn     atomic.Pointer[string]
	ready    atomic.Bool // the thread can be listed as loaded

	thread      *core.Thread
	journal     Journal
	path        string
	options     core.Options
	subscribers []uint64
	effects     map[core.EffectID]*running
	generation  int
	failed      bool // the thread could not be loaded
}

func newActor(e *Engine, id string) *actor {
	return &actor{
		engine: e, id: id,
		requests: make(chan request, mailbox), results: make(chan result, resultBuffer),
		quit: make(chan struct{}), gone: make(chan struct{}),
		effects: map[core.EffectID]*running{}, journal: ephemeral{},
	}
}

func (a *actor) stop() { a.quitOnce.Do(func() { close(a.quit) }) }

// post hands over a request without waiting. Either it returns an error, or r.do or
// r.refuse is called once.
func (a *actor) post(r request) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return errShuttingDown()
	}
	select {
	case a.requests <- r:
		return nil
	default:
		return &protocol.Error{Code: protocol.CodeOverloaded, Message: "thread " + a.id + " has too many requests waiting; retry later",
			Data: &protocol.ErrorData{Kind: protocol.KindOverloaded}}
	}
}

func (a *actor) run() {
	defer a.leave()
	for !a.failed {
		results := a.results
		clear := a.congestion()
		if clear != nil {
			results = nil
		}
		select {
		case r := <-a.requests:
			r.do(a)
		case r := <-results:
			a.take(r)
		case <-clear:
		case <-a.quit:
			a.wind()
			return
		}
	}
}

// congestion is nil while all subscribers keep up.
func (a *actor) congestion() <-chan struct{} {
	for _, conn := range a.subscribers {
		if c := a.engine.Outbox.Congested(conn); c != nil {
			return c
		}
	}
	return nil
}

func (a *actor) take(r result) {
	if r.generation != a.generation {
		return
	}
	in := r.in
	if end, ok := in.(endOfEffect); ok {
		delete(a.effects, end.id)
		in = end.Input
	}
	a.step(in)
}

// wind serves what was accepted, ends the turn and waits for its effects.
func (a *actor) wind() {
	for len(a.requests) > 0 && !a.failed {
		r := <-a.requests
		r.do(a)
	}
	if a.thread == nil || a.failed {
		return
	}
	a.step(core.Shutdown{})
	for len(a.effects) > 0 && !a.failed {
		a.take(<-a.results)
	}
}

// leave closes the journal and refuses what nobody will do any more.
func (a *actor) leave() {
	a.engine.remove(a.id)
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	close(a.gone)
	a.cancelEffects()
	if err := a.journal.Close(); err != nil {
		a.engine.Log.Error("closing the rollout failed", zap.String("thread", a.id), zap.Error(err))
	}
	for {
		select {
		case r := <-a.requests:
			r.refuse(errShuttingDown())
		default:
			return
		}
	}
}

// step runs one input: state, then disk, then words, then effects.
func (a *actor) step(in core.Input) {
	asked := a.thread.OpenRequests()
	out := a.thread.Step(a.stamp(), in)
	if len(out.Lines) > 0 {
		if err := a.journal.Append(out.Lines, out.Sync); err != nil {
			a.recover(err, out.Messages, asked)
			return
		}
	}
	a.publish()
	a.say(out.Messages)
	for _, e := range out.Effects {
		a.start(e)
	}
}

// publish tells other goroutines which turn is under way.
func (a *actor) publish() {
	id := a.thread.ActiveTurn()
	if old := a.turn.Load(); old == nil || *old != id {
		a.turn.Store(&id)
	}
}

func (a *actor) stamp() core.Stamp {
	return core.Stamp{Now: time.Now(), NewID: a.engine.NewID, NextRequest: func() uint64 { return a.engine.requests.Add(1) - 1 }}
}

func (a *actor) say(messages []core.Message) {
	out := a.engine.Outbox
	for _, m := range messages {
		switch m := m.(type) {
		case core.Reply:
			out.Reply(m.To, m.Result)
		case core.Refusal:
			out.Refuse(m.To, m.Err)
		case core.Notice:
			for _, conn := range a.subscribers {
				out.Notify(conn, m.Notification)
			}
		case core.Request:
			for _, conn := range a.subscribers {
				out.Ask(conn, m.ID, m.Method, m.Params, a.answerTo(m.ID))
			}
		}
	}
}

// answerTo posts a client's answer to a request.
func (a *actor) answerTo(id uint64) func(result json.RawMessage, err error) {
	generation := a.generation
	return func(raw json.RawMessage, err error) {
		a.postResult(context.Background(), result{generation, core.ClientAnswer{Request: id, Result: raw, Err: err}})
	}
}

// recover takes a thread back to what its rollout holds, after lines could not be
// appended. Whoever was to be answered is refused. Asked are the requests that the
// client had not answered before the step.
func (a *actor) recover(cause error, lost []core.Message, asked []uint64) {
	a.engine.Log.Error("appending to the rollout failed", zap.String("thread", a.id), zap.Error(cause))
	a.refuseLost(lost, protocol.Internal(protocol.KindStorage, "%v", cause))
	a.cancelEffects()
	a.generation++
	contents, err := a.engine.Store.Read(a.path)
	if err != nil {
		a.failed = true
		a.say([]core.Message{core.Notice{Notification: protocol.ThreadClosedNotification{ThreadID: a.id}}})
		return
	}
	a.thread = a.thread.Again(contents.Lines, contents.Next, a.engine.nameOf(a.id))
	a.step(core.StorageFailed{Err: cause, Requests: asked})
}

// refuseLost answers the callers of a step that is undone, and those that waited.
func (a *actor) refuseLost(lost []core.Message, err *protocol.Error) {
	for _, m := range lost {
		switch m := m.(type) {
		case core.Reply:
			a.engine.Outbox.Refuse(m.To, err)
		case core.Refusal:
			a.engine.Outbox.Refuse(m.To, m.Err)
		}
	}
	for _, to := range a.thread.OpenCallers() {
		a.engine.Outbox.Refuse(to, err)
	}
}

func (a *actor) subscribe(conn uint64) {
	if !a.subscribed(conn) {
		a.subscribers = append(a.subscribers, conn)
	}
}

func (a *actor) subscribed(conn uint64) bool {
	for _, c := range a.subscribers {
		if c == conn {
			return true
		}
	}
	return false
}

func (a *actor) unsubscribe(conn uint64) bool {
	for i, c := range a.subscribers {
		if c == conn {
			a.subscribers = append(a.subscribers[:i:i], a.subscribers[i+1:]...)
			return true
		}
	}
	return false
}

// warnings are what the client is told of lines that could not be read.
func warnings(c *rollout.Contents) []string {
	const most = 10
	var list []string
	for i, d := range c.Damage {
		if i == most {
			return append(list, damageCount(c.Path, len(c.Damage)-most))
		}
		list = append(list, damageText(c.Path, d))
	}
	return list
}
