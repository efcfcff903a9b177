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

// Journal is the writer of a thread's rollout.
type Journal interface {
	// Append appends all of the lines or none. With sync it returns after they are durable.
	Append(lines []protocol.RolloutLine, sync bool) error
	Close() error
	// Discard closes the journal, and removes the rollout of a thread that began with it.
	Discard() error
	// LineReader returns a reader of the appended lines, or nil if they cannot be read again.
	LineReader() *rollout.LineReader
	// CloseRewritten closes the journal and rewrites the rollout, so that other programs read the
	// lines of the projection only. Nil selects all lines.
	CloseRewritten(p rollout.Projection) error
	// SetIdle sets whether the store may close the descriptors. Resume opens them again.
	SetIdle(idle bool)
	Resume() error
}

// ephemeral is the journal of a thread without a rollout.
type ephemeral struct{}

func (ephemeral) Append([]protocol.RolloutLine, bool) error { return nil }
func (ephemeral) Close() error                              { return nil }
func (ephemeral) Discard() error                            { return nil }
func (ephemeral) LineReader() *rollout.LineReader           { return nil }
func (ephemeral) CloseRewritten(rollout.Projection) error   { return nil }
func (ephemeral) SetIdle(bool)                              {}
func (ephemeral) Resume() error                             { return nil }

const (
	// mailbox is the maximum number of requests that wait for a thread.
	mailbox = 128
	// urgentRoom is the number of urgent requests beyond that.
	urgentRoom = 16
	// resultBuffer is the number of results that wait for a thread before effects block.
	resultBuffer = 64
)

// request is work for the goroutine of a thread. It calls do if the thread is loaded, and absent
// otherwise. A request without absent is rejected then. Urgent requests are accepted by a full
// mailbox, because they end work.
type request struct {
	to     protocol.Caller
	do     func(a *actor)
	absent func(a *actor)
	urgent bool
}

// result is an input from an effect. Its generation differs from that of the actor if the thread
// was reloaded since the effect began.
type result struct {
	generation int
	in         core.Input
}

// actor owns one thread. Its fields belong to its goroutine, except the channels and the atomics.
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
	// withoutBackup is the error of the backup, or nil if it was loaded or does not exist.
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
		requests: make(chan request, mailbox+urgentRoom), results: make(chan result, resultBuffer),
		disconnected: make(chan struct{}, 1),
		quit:         make(chan struct{}), gone: make(chan struct{}),
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

// describeAtOnce is the number of items that are described between two checks of the mailbox, about
// a millisecond of work.
const describeAtOnce = 64

// describe describes some items of a resumed thread. After the last item it stops.
func (a *actor) describe() {
	if a.thread == nil || !a.thread.Describe(describeAtOnce) {
		a.describeDue = nil
	}
}

// always returns a closed channel.
func always() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// serve serves a request, unless its client is behind. The check is repeated here, because many
// requests can be accepted at once, and each response may contain the whole thread.
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
	return &protocol.Error{Code: protocol.CodeOverloaded,
		Message: "Server overloaded; read the pending responses, then retry",
		Data:    &protocol.ErrorData{Kind: protocol.KindOverloaded}}
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

// absence returns the error for a request that needs the loaded thread.
func (a *actor) absence() *protocol.Error {
	locked, err := a.engine.parts.Store.Locked(a.id)
	if err != nil {
		a.engine.parts.Log.Warn("the lock of a thread cannot be read", zap.String("thread", a.id), zap.Error(err))
	}
	if locked {
		return protocol.Refuse(protocol.KindThreadLocked, "%v: it is not loaded here, and %v", errNotLoaded(a.id),
			&rollout.LockedError{ID: a.id})
	}
	return errNotLoaded(a.id)
}

func errNotLoaded(id string) *protocol.Error {
	return protocol.Refuse(protocol.KindThreadNotFound, "thread not found: %s", id)
}

// congestion returns nil while all subscribers read their output.
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

// unload unloads the thread, and rewrites its rollout for other programs, if that is enabled.
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
		a.refuseWaiting(protocol.Refuse(protocol.KindThreadNotLoaded, "thread %s was unloaded before the request completed",
			a.id))
	}
	if err := journal(); err != nil {
		a.engine.parts.Log.Error("closing the rollout failed", zap.String("thread", a.id), zap.Error(err))
		a.send([]core.Message{core.Notice{Notification: protocol.WarningNotification{ThreadID: &a.id, Message: err.Error()}}})
	}
	a.closeLineReader()
	a.closeServers()
	a.journal, a.thread, a.scope, a.subscribers, a.formerSubscribers, a.path, a.withoutBackup = ephemeral{}, nil, nil, nil,
		nil, "", nil
}

// step runs one input: state, disk, messages, effects, in this order.
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
	return core.StorageFailed{Requests: a.thread.OpenRequests(), Turn: a.thread.ActiveTurn(),
		Settings: a.thread.Settings()}
}

// commit applies an input to the state and appends its lines.
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

// evictLines evicts appended lines from memory, unless they were redacted. The thread reads them
// again when it needs them. It keeps them if the journal does not have all lines of the thread.
func (a *actor) evictLines(lines, appended []protocol.RolloutLine) {
	text := a.journal.LineReader()
	if text == nil || text.Lines() != a.thread.Lines() {
		return
	}
	if a.lineReader == nil {
		a.lineReader = text
	}
	first := text.Lines() - len(appended)
	a.thread.Evict(text, first, func(n int) bool {
		payload := appended[n-first].Payload
		return len(payload) >= minEvictBytes && bytes.Equal(lines[n-first].Payload, payload)
	})
}

// minEvictBytes is the size of the smallest payload that is evicted.
const minEvictBytes = 1 << 10

// readError returns the error of the last evicted line that could not be read. The state of the
// thread is invalid then.
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

// publish publishes the active turn and the settings for lists, which run in other goroutines.
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
