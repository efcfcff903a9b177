package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
)

const (
	// maxReaders limits the requests that read the disk at the same time.
	maxReaders = 4
	// maxOneshotServers limits the requests without a thread that have connections to MCP servers
	// at the same time.
	maxOneshotServers = 4
)

// Engine holds the loaded threads.
type Engine struct {
	parts          Parts
	nextRequest    atomic.Uint64 // the id of the next request to a client
	skipped        sync.Once     // see skipRequests
	proxied        *proxiedRequests
	team           *team
	agents         agentWork
	globalNotices  map[string]bool // see globalMethods
	readers        chan struct{}
	oneshotServers chan struct{}
	work           sync.WaitGroup // goroutines of actors and background reads
	haveList       chan struct{}  // has a token after the first list
	tidied         sync.Once

	mu        sync.Mutex
	threads   map[string]*actor
	order     []string // ids of threads, oldest first
	closing   bool
	announced map[string]bool // warnings that were sent
	prepared  map[string]bool // models whose tokenizers are loaded
	watchers  map[uint64]bool // connections that get the progress of the index
	ended     chan struct{}   // closed when closing is set
}

// tokenizer returns the tokenizer, or nil.
func (e *Engine) tokenizer() core.Tokenizer {
	if e.parts.Tokens == nil {
		return nil
	}
	return e.parts.Tokens
}

func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic(fmt.Sprintf("engine: no randomness: %v", err)) // the system's source of randomness is gone
	}
	return id.String()
}

// forget removes an actor without requests, and reports whether it did.
func (e *Engine) forget(a *actor) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(a.requests) > 0 {
		return false
	}
	e.removeLocked(a.id)
	return true
}

func (e *Engine) isClosing() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closing
}

func (e *Engine) removeLocked(id string) {
	delete(e.threads, id)
	for i, o := range e.order {
		if o == id {
			e.order = append(e.order[:i:i], e.order[i+1:]...)
			return
		}
	}
}

func (e *Engine) find(id string) *actor {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.threads[id]
}

// actors returns the actors in the order in which they were made.
func (e *Engine) actors() []*actor {
	e.mu.Lock()
	defer e.mu.Unlock()
	actors := make([]*actor, 0, len(e.order))
	for _, id := range e.order {
		actors = append(actors, e.threads[id])
	}
	return actors
}

// Background replies to a request from another goroutine, because it reads the disk.
func (e *Engine) Background(to protocol.Caller, answer func() (any, error)) error {
	return e.goReader(to.Conn, func() { e.answer(to, answer) })
}

// goReader runs do for a client in another goroutine, at most maxReaders at a time. A panic is logged.
func (e *Engine) goReader(conn uint64, do func()) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return errShuttingDown()
	}
	e.spawn(func() {
		e.awaitRoom(conn)
		e.readers <- struct{}{}
		defer func() { <-e.readers }()
		do()
	})
	return nil
}

// answer replies with the result of a function. After a panic the reply is an internal error.
func (e *Engine) answer(to protocol.Caller, answer func() (any, error)) {
	var result any
	var err error
	if fault := e.catchPanic(func() { result, err = answer() }); fault != nil {
		err = fault
	}
	if err != nil {
		e.refuse(to, err)
		return
	}
	e.parts.Outbox.Reply(to, result)
}

// refuse rejects a request with an error, to which it adds the code and the kind.
func (e *Engine) refuse(to protocol.Caller, err error) { e.parts.Outbox.Refuse(to, withCode(err)) }

// awaitRoom waits while the client is congested, or until the engine closes.
func (e *Engine) awaitRoom(conn uint64) {
	for clear := e.parts.Outbox.Congested(conn); clear != nil; clear = e.parts.Outbox.Congested(conn) {
		select {
		case <-clear:
		case <-e.ended:
			return
		}
	}
}

// untilClosed returns a context that ends when the engine closes.
func (e *Engine) untilClosed() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	e.work.Go(func() {
		select {
		case <-e.ended:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, cancel
}

func (e *Engine) hasDisconnected(conn uint64) bool {
	return e.parts.Clients.Connected != nil && !e.parts.Clients.Connected(conn)
}

// NextRequest returns an id for a request to a client. No other request of this process gets the same one.
func (e *Engine) NextRequest() uint64 { return e.nextRequest.Add(1) - 1 }

// skipRequests makes the ids of later requests differ from those of earlier processes, which began at 0 as well.
// So a late answer to a request of another process answers no request that is sent again.
func (e *Engine) skipRequests() {
	e.skipped.Do(func() { e.nextRequest.Add(1<<16 + uint64(rand.Uint32())) })
}

// IsLoaded reports whether a thread is loaded.
func (e *Engine) IsLoaded(id string) bool {
	a := e.find(id)
	return a != nil && a.ready.Load()
}

func (e *Engine) stamp() core.Stamp {
	return core.Stamp{Now: time.Now(), NewID: e.parts.NewID, NextRequest: e.NextRequest}
}

// catchPanic runs do; a panic is logged and returned as an internal error.
func (e *Engine) catchPanic(do func(), fields ...zap.Field) (fault *protocol.Error) {
	defer func() {
		if p := recover(); p != nil {
			// The clone lets callers keep fields on their stack.
			e.parts.Log.Error("recovered from a panic", append(slices.Clone(fields), zap.Any("panic", p), zap.Stack("stack"))...)
			fault = protocol.Internal(protocol.KindInternal, "%v", errFault)
		}
	}()
	do()
	return nil
}

// spawn runs do in another goroutine, for which Close waits. A panic is logged.
func (e *Engine) spawn(do func()) {
	e.work.Go(func() { e.catchPanic(do) })
}

// IsWorking reports whether a turn of a loaded thread continues without an answer of a client. It does not wait.
func (e *Engine) IsWorking() bool {
	return slices.ContainsFunc(e.actors(), func(a *actor) bool {
		turn, open := a.turn.Load(), a.unanswered.Load()
		return a.ready.Load() && turn != nil && *turn != "" && (open == nil || len(*open) == 0)
	})
}

// Diagnose returns the state of the threads and of the index. It does not wait.
func (e *Engine) Diagnose() (threads protocol.ThreadDiagnostics, index protocol.IndexDiagnostics) {
	for _, a := range e.actors() {
		if !a.ready.Load() {
			continue
		}
		threads.Loaded++
		if id := a.turn.Load(); id != nil && *id != "" {
			threads.InTurns++
		}
	}
	return threads, e.parts.Threads.Diagnose()
}
