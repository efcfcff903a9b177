package engine

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

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
	// ready is set while the thread can be listed as loaded. The state below is for lists; see publish.
	ready   atomic.Bool
	turn    atomic.Pointer[string] // the id of the active turn
	current atomic.Pointer[core.Current]
	// unanswered are the requests that no client has answered.
	unanswered atomic.Pointer[[]core.OpenRequest]

	// thread is nil while the thread is not loaded. The journal is that of an ephemeral thread then.
	thread  *core.Thread
	journal store.Journal
	// at is the place of the journal's rollout.
	at      store.Ref
	options core.Options
	// lineReader reads evicted lines of the rollout; nil if none were evicted or loaded.
	lineReader *rollout.LineReader
	// withoutBackup is the error of the backup, or nil if it was loaded or does not exist.
	withoutBackup error
	// scope is nil if the thread has no configuration of its own; see config.
	scope       *Scope
	subscribers []uint64
	effects     map[core.EffectID]*running
	// generation is increased when the thread is reloaded or unloaded. Results of earlier generations are stale.
	generation int
	// formerSubscribers are notified when unloadTimer unloads the thread. The timer runs while
	// the thread has no subscriber, turn or effect.
	formerSubscribers []uint64
	unloadTimer       *time.Timer
	// disconnected holds a token after a connection has ended.
	disconnected chan struct{}
	// ownTurn is the started turn of a proxied request, or nil. The actor stays until it ends,
	// even if the thread is archived.
	ownTurn *ownTurn
	// limit bounds the active turn of an agent, or is nil.
	limit *turnLimit
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

// absence returns the error for a request that needs the loaded thread.
func (a *actor) absence() *protocol.Error {
	err := a.engine.parts.Threads.Check(store.Ref{ID: a.id}, store.OpWrite)
	var locked *rollout.LockedError
	if errors.As(err, &locked) {
		return errLocked(err, "%v: it is not loaded here, and %v", errNotLoaded(a.id), err)
	}
	if err != nil {
		a.engine.parts.Log.Warn("the lock of a thread cannot be read", zap.String("thread", a.id), zap.Error(err))
	}
	return errNotLoaded(a.id)
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

func (a *actor) beforeStep() core.StorageFailed {
	return core.StorageFailed{Requests: a.thread.OpenRequests(), Turn: a.thread.ActiveTurn(),
		Waits: a.thread.Waits(), WaitingEdits: a.thread.HasWaitingEdits(), Settings: a.thread.Settings()}
}

// evictLines evicts appended lines from memory, unless they were redacted. The thread reads them
// again when it needs them. It keeps them if the journal does not have all lines of the thread.
func (a *actor) evictLines(lines, appended []protocol.RolloutLine) {
	lineReader := a.journal.LineReader()
	if a.lineReader == nil {
		a.lineReader = lineReader
	}
	if lineReader == nil || lineReader != a.lineReader || lineReader.Lines() != a.thread.Lines() {
		return // readError looks at one reader only
	}
	first := lineReader.Lines() - len(appended)
	a.thread.Evict(lineReader, first, func(n int) bool {
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

// publish publishes the active turn, the settings and the open requests for lists, which run in other goroutines.
func (a *actor) publish() {
	storeChanged(&a.turn, a.thread.ActiveTurn())
	storeChanged(&a.current, a.thread.Current())
	if !slices.Equal(a.thread.OpenRequests(), requestIDs(a.openRequests())) {
		open := a.thread.Unanswered()
		a.unanswered.Store(&open)
	}
}

// storeChanged stores a value, and allocates nothing if it is stored already.
func storeChanged[T comparable](to *atomic.Pointer[T], now T) {
	if old := to.Load(); old == nil || *old != now {
		to.Store(new(now))
	}
}

// openRequests returns the published requests that no client has answered.
func (a *actor) openRequests() []core.OpenRequest {
	if open := a.unanswered.Load(); open != nil {
		return *open
	}
	return nil
}

func requestIDs(requests []core.OpenRequest) []uint64 {
	var ids []uint64
	for _, r := range requests {
		ids = append(ids, r.ID)
	}
	return ids
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
