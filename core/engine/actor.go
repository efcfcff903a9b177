package engine

import (
	"bytes"
	"slices"
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
	// Discard closes it too, and leaves nothing of a thread that began with it.
	Discard() error
	// Text reads again what it has; nil where it cannot.
	LineReader() *rollout.LineReader
	// CloseRewritten closes it too, and leaves a file that plain readers make of what
	// the projection leaves; nil leaves all.
	CloseRewritten(p rollout.Projection) error
	// SetIdle sets whether its descriptors can be closed; Resume opens it again then.
	SetIdle(idle bool)
	Resume() error
}

// ephemeral is the journal of threads that keep nothing.
type ephemeral struct{}

func (ephemeral) Append([]protocol.RolloutLine, bool) error { return nil }
func (ephemeral) Close() error                              { return nil }
func (ephemeral) Discard() error                            { return nil }
func (ephemeral) LineReader() *rollout.LineReader           { return nil }
func (ephemeral) CloseRewritten(rollout.Projection) error   { return nil }
func (ephemeral) SetIdle(bool)                              {}
func (ephemeral) Resume() error                             { return nil }

const (
	// mailbox is how many requests a thread holds before it is overloaded.
	mailbox = 128
	// urgentRoom is how many urgent ones it holds above that.
	urgentRoom = 16
	// resultBuffer is how many results wait for a thread before effects block.
	resultBuffer = 64
)

// request is something to do in a thread's goroutine: with the thread, or where it is
// not loaded. Without the latter the caller is refused. Urgent ones find room where others do not.
type request struct {
	to     protocol.Caller
	do     func(a *actor)
	absent func(a *actor)
	urgent bool
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
	turn     atomic.Pointer[string]
	current  atomic.Pointer[core.Current]
	ready    atomic.Bool // the thread can be listed as loaded

	thread  *core.Thread
	journal Journal
	path    string
	options core.Options
	// lineReader reads evicted lines of the rollout; nil if none were evicted or loaded.
	lineReader *rollout.LineReader
	// withoutBackup is why the rollout's backup was not loaded, nil where it was or
	// where there is none.
	withoutBackup error
	scope         Scope
	subscribers   []uint64
	effects       map[core.EffectID]*running
	generation    int
	// formerSubscribers are notified when unloadTimer unloads the thread. The timer runs while
	// the thread has no subscriber, turn or effect.
	formerSubscribers []uint64
	unloadTimer       *time.Timer
	// disconnected holds a token after a connection has ended.
	disconnected chan struct{}
	// ownTurn is the started turn of a proxied request, or nil. The actor stays until it ends,
	// even if the thread is archived.
	ownTurn *ownTurn
	// describeDue is ready while items of a resumed thread are not described yet.
	describeDue <-chan struct{}
}

func newActor(e *Engine, id string) *actor {
	return &actor{
		engine: e, id: id,
		requests: make(chan request, mailbox+urgentRoom), results: make(chan result, resultBuffer), disconnected: make(chan struct{}, 1),
		quit: make(chan struct{}), gone: make(chan struct{}),
		effects: map[core.EffectID]*running{}, journal: ephemeral{},
	}
}

func (a *actor) stop() { a.quitOnce.Do(func() { close(a.quit) }) }

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

// describeAtOnce is how many items are described between two looks at the mailbox: about
// a millisecond's work.
const describeAtOnce = 64

// describe goes on describing the items of a thread that was resumed, and is idle no more
// when that is done.
func (a *actor) describe() {
	if a.thread == nil || !a.thread.Describe(describeAtOnce) {
		a.describeDue = nil
	}
}

// always is a channel that is always ready.
func always() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// serve looks again whether the client reads: what was asked at once is answered at once, and
// each answer may hold all of the thread.
func (a *actor) serve(r request) {
	if !r.urgent && a.engine.parts.Outbox.Behind(r.to.Conn) {
		a.engine.parts.Outbox.Refuse(r.to, errBehind())
		return
	}
	proxied := a.engine.proxied.of(r.to)
	if err := proxied.begin(a); err != nil {
		a.engine.parts.Outbox.Refuse(r.to, err)
		return
	}
	a.handle(r)
	a.scheduleEnd(proxied)
}

func errBehind() *protocol.Error {
	return &protocol.Error{Code: protocol.CodeOverloaded, Message: "Server overloaded; retry later: too much of what it has answered is not read yet",
		Data: &protocol.ErrorData{Kind: protocol.KindOverloaded}}
}

func (a *actor) handle(r request) {
	if err := a.resume(); err != nil && r.to != (protocol.Caller{}) {
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

// absence is why a request for the loaded thread cannot be served.
func (a *actor) absence() *protocol.Error {
	locked, err := a.engine.parts.Store.Locked(a.id)
	if err != nil {
		a.engine.parts.Log.Warn("the lock of a thread cannot be looked at", zap.String("thread", a.id), zap.Error(err))
	}
	if locked {
		return protocol.Refuse(protocol.KindThreadLocked, "%v: it is not loaded here, and %v", errNotLoaded(a.id), &rollout.LockedError{ID: a.id})
	}
	return errNotLoaded(a.id)
}

func errNotLoaded(id string) *protocol.Error {
	return protocol.Refuse(protocol.KindThreadNotFound, "thread not found: %s", id)
}

// congestion is nil while all subscribers keep up.
func (a *actor) congestion() <-chan struct{} {
	for _, conn := range a.subscribers {
		if c := a.engine.parts.Outbox.Congested(conn); c != nil {
			return c
		}
	}
	return nil
}

func (a *actor) handleResult(r result) {
	if a.resume() != nil || a.thread == nil || a.isStale(r) {
		return
	}
	in := r.in
	if end, ok := in.(endOfEffect); ok {
		delete(a.effects, end.id)
		in = end.Input
	}
	a.step(in)
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

// unload lets the thread go, and leaves a rollout of which other programs make the
// context that this thread has.
func (a *actor) unload() {
	a.journal.SetIdle(false)
	if err := a.resume(); err != nil {
		a.engine.parts.Log.Warn("the rollout is not rewritten", zap.String("thread", a.id), zap.Error(err))
		a.closeThread()
		return
	}
	if a.thread == nil {
		a.closeThread()
		return
	}
	var projection rollout.Projection // without one the rollout gets all of its lines
	if a.engine.parts.Setup.RewriteOnUnload(a.scope) {
		projection = a.redactedProjection(a.thread.Projection())
	}
	a.close(func() error { return a.journal.CloseRewritten(projection) })
}

// closeThread unloads the thread and closes its journal as it is.
func (a *actor) closeThread() { a.close(a.journal.Close) }

func (a *actor) close(journal func() error) {
	a.ready.Store(false)
	a.turn.Store(nil)
	a.current.Store(nil)
	a.cancelEffects()
	a.generation++
	if a.thread != nil {
		a.refuseWaiting(protocol.Refuse(protocol.KindThreadNotLoaded, "thread %s was unloaded before this was done", a.id))
	}
	if err := journal(); err != nil {
		a.engine.parts.Log.Error("closing the rollout failed", zap.String("thread", a.id), zap.Error(err))
		a.send([]core.Message{core.Notice{Notification: protocol.WarningNotification{ThreadID: &a.id, Message: err.Error()}}})
	}
	a.closeLineReader()
	a.closeServers()
	a.journal, a.thread, a.scope, a.subscribers, a.formerSubscribers, a.path, a.withoutBackup = ephemeral{}, nil, nil, nil, nil, "", nil
}

// step runs one input: state, then disk, then words, then effects.
func (a *actor) step(in core.Input) {
	before := a.beforeStep()
	out, err := a.commit(in)
	if err != nil {
		before.Err = err
		a.recover(before, out)
		return
	}
	a.deliver(out)
	if err := a.readError(); err != nil {
		before = a.beforeStep()
		before.Err = err
		a.recover(before, core.Output{})
	}
}

func (a *actor) beforeStep() core.StorageFailed {
	return core.StorageFailed{Requests: a.thread.OpenRequests(), Turn: a.thread.ActiveTurn(), Settings: a.thread.Settings()}
}

// commit changes the state, and the disk.
func (a *actor) commit(in core.Input) (core.Output, error) {
	out := a.thread.Step(a.stamp(), in)
	if err := a.readError(); err != nil || len(out.Lines) == 0 {
		return out, err
	}
	lines := a.redacted(out.Lines)
	err := a.journal.Append(lines, out.Sync)
	if err == nil {
		a.evictLines(out.Lines, lines)
	}
	if a.engine.parts.Index != nil {
		a.engine.parts.Index.Note(a.path)
	}
	return out, err
}

// evictLines lets the thread read lines again that were appended as they are, instead of
// holding them. Where the journal does not have all that the thread was told, it holds them.
func (a *actor) evictLines(told, kept []protocol.RolloutLine) {
	text := a.journal.LineReader()
	if text == nil || text.Lines() != a.thread.Lines() {
		return
	}
	if a.lineReader == nil {
		a.lineReader = text
	}
	first := text.Lines() - len(kept)
	a.thread.Evict(text, first, func(n int) bool {
		payload := kept[n-first].Payload
		return len(payload) >= minEvictBytes && bytes.Equal(told[n-first].Payload, payload)
	})
}

// worthLeaving is how long a payload is, in bytes, that is read again rather than held.
const minEvictBytes = 1 << 10

// readError is why a line of the rollout could not be read again: then nothing that was made
// of the thread is any good.
func (a *actor) readError() error {
	if a.lineReader == nil {
		return nil
	}
	return a.lineReader.Err()
}

func (a *actor) deliver(out core.Output) {
	a.publish()
	a.send(out.Messages)
	for _, e := range out.Effects {
		a.start(e)
	}
}

// publish gives the turn under way and the settings to lists, which run in other goroutines.
func (a *actor) publish() {
	id := a.thread.ActiveTurn()
	if old := a.turn.Load(); old == nil || *old != id {
		a.turn.Store(&id)
	}
	now := a.thread.Current()
	if old := a.current.Load(); old == nil || *old != now {
		a.current.Store(&now)
	}
}

func (a *actor) stamp() core.Stamp { return a.engine.stamp() }

func (e *Engine) stamp() core.Stamp {
	return core.Stamp{Now: time.Now(), NewID: e.parts.NewID, NextRequest: func() uint64 { return e.requests.Add(1) - 1 }}
}

func (a *actor) send(messages []core.Message) {
	if slices.ContainsFunc(messages, startsTurn) {
		a.endOwnTurn()
	}
	out := a.engine.parts.Outbox
	for _, m := range messages {
		switch m := m.(type) {
		case core.Reply:
			out.Reply(m.To, m.Result)
		case core.Refusal:
			out.Refuse(m.To, m.Err)
		case core.ContextChanged:
			a.broadcastContext(m)
		case core.Notice:
			for _, conn := range a.recipients(m.Notification) {
				out.Notify(conn, m.Notification)
			}
		case core.Request:
			for _, conn := range a.subscribers {
				if m.Only == 0 || m.Only == conn {
					out.Ask(conn, m.ID, m.Method, m.Params, a.answerTo(m.ID))
				}
			}
		}
	}
}

func (a *actor) subscribe(conn uint64) {
	if !a.subscribed(conn) && !a.engine.hasDisconnected(conn) {
		a.subscribers = append(a.subscribers, conn)
		a.formerSubscribers = slices.DeleteFunc(a.formerSubscribers, func(c uint64) bool { return c == conn })
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
			a.formerSubscribers = append(a.formerSubscribers, conn)
			return true
		}
	}
	return false
}
