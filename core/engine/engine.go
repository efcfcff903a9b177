package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"appserver/core"
	"appserver/core/history"
	"appserver/protocol"
	"appserver/rollout"
)

// Model sends prompts to providers.
type Model interface {
	// Stream sends the prompt and passes the pieces of the answer to emit as they arrive. It
	// returns after the last piece, or with a *core.ModelError.
	Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error)
	// Render returns the messages and the tools of the request that Stream would send.
	Render(p *core.Prompt) (messages, tools []json.RawMessage, err error)
}

// Tokens counts tokens.
type Tokens interface {
	history.Tokenizer
	// Prepare loads the data that Count needs for a model.
	Prepare(model string)
}

// Tools runs commands.
type Tools interface {
	// Run runs the command until it exits or ctx ends. It calls started once, before the first
	// output, and never if the command does not start. It writes keys to the command's terminal.
	Run(ctx context.Context, c core.Command, keys <-chan string, started func(pid string),
		output func(text string)) core.ToolResult
}

// Patches applies patches.
type Patches interface {
	// Plan returns the effect of a patch, and changes nothing.
	Plan(core.PlanPatch) core.PatchPlanned
	// Write changes all of the files, or none.
	Write(core.WritePatch) core.PatchWritten
}

// Outbox sends messages to clients. Its methods do not block.
type Outbox interface {
	Reply(to protocol.Caller, result any)
	Refuse(to protocol.Caller, err *protocol.Error)
	Notify(conn uint64, n protocol.Notification)
	// Ask sends a request with this id; answer is called at most once.
	Ask(conn, id uint64, method string, params any, answer func(result json.RawMessage, err error))
	// Congested returns nil while the client reads its output, and otherwise a channel that is
	// closed when it does again.
	Congested(conn uint64) <-chan struct{}
	// Behind reports whether the client has so much unread output that its requests are rejected.
	Behind(conn uint64) bool
}

// Index lists and searches stored threads.
type Index interface {
	// List is rollout.Store.List without reading rollouts. It returns false if the rollouts must be
	// read.
	List(q rollout.Query) (rollout.Page, bool)
	// Search returns the threads that contain a text. It waits briefly for an index that is being
	// built, and at most until ctx ends.
	Search(ctx context.Context, q rollout.Query) (rollout.Hits, error)
	// CheckDelete is rollout.Store.CheckDelete for an existing thread. It returns known false if
	// the rollouts must be read.
	CheckDelete(id string) (known bool, err error)
	// Skipped returns the unreadable files, as in rollout.Page, since the last call.
	Skipped() []error
	// Note reports a write to a rollout. It does not wait.
	Note(path string)
	// Diagnose returns the state of the index. It does not wait.
	Diagnose() protocol.IndexDiagnostics
}

// Setup supplies the settings of threads from the configuration.
type Setup interface {
	// Template returns the settings of a new thread.
	Template(p *protocol.ThreadStartParams) (Template, error)
	// Defaults returns the settings for values that a rollout does not contain.
	Defaults() core.Settings
	// Offers returns the capabilities of a model without the configuration of a thread.
	Offers(provider, model string) core.Capabilities
	// Resumed returns the settings of a stored thread with the client's overrides.
	Resumed(p *protocol.ThreadResumeParams, stored core.Settings) (core.Settings, Scope, error)
	// Skills returns the skills that an input names, with their texts. It reads the disk.
	Skills(scope Scope, cwd string, input []protocol.UserInput) []core.SkillText
	// World returns the environment of a turn with these settings. An error rejects the turn. An
	// error of kind providerNotReady names the missing part of the provider's configuration.
	World(scope Scope, s core.Settings) (core.TurnEnv, error)
	// Tracking returns how file changes of a thread are tracked.
	Tracking(scope Scope) core.Tracking
	// Memory returns the rules of the memory for a thread.
	Memory(scope Scope) core.MemoryRules
	// RewriteOnUnload reports whether the rollout of a thread is rewritten when the thread is
	// unloaded.
	RewriteOnUnload(scope Scope) bool
	// Redactor returns the redactor for the lines of a thread, or nil.
	Redactor(scope Scope) Redactor
	// UnloadDelay returns the time from the last subscriber of a thread to its unloading. A
	// negative value disables unloading.
	UnloadDelay(scope Scope) time.Duration
	// Persists reports whether threads have rollouts.
	Persists(scope Scope) bool
	// Deprecations returns a notice for each deprecated setting of a thread.
	Deprecations(scope Scope) []protocol.DeprecationNoticeNotification
}

// Redactor removes secrets from lines and texts before they are written.
type Redactor interface {
	// Line returns the line without secrets. It does not change its argument.
	Line(protocol.RolloutLine) protocol.RolloutLine
	Text(string) string
}

// Scope is the configuration of a thread. A Setup makes it, and the engine only passes it back. Nil
// is the global configuration.
type Scope any

// Template has the settings of a new thread.
type Template struct {
	Settings              core.Settings
	BaseInstructions      *string
	DeveloperInstructions *string
	// Persist is set if the thread has a rollout.
	Persist bool
	Scope   Scope
	// Warnings describe requested settings that have no effect.
	Warnings []string
	// ConfigWarnings describe problems in configuration files.
	ConfigWarnings []string
}

// Parts are the ports and settings of an engine. The engine copies them.
type Parts struct {
	Store   *rollout.Store
	Model   Model
	Tools   Tools
	Patches Patches
	// Worktrees may be nil. File changes are not tracked then.
	Worktrees Worktrees
	// Announce notifies the user's program of a completed turn. It does not wait, and may be nil.
	Announce func(scope Scope, thread string, e core.AnnounceTurn)
	// Image reads an image file and returns a data: URL. If confined is set, it reads only files
	// that confined commands can read.
	Image func(path string, confined bool) (url string, err error)
	// Tokens may be nil. A token is four bytes then.
	Tokens Tokens
	Outbox Outbox
	Setup  Setup
	// Servers may be nil. There are no MCP servers then.
	Servers Servers
	// Memory may be nil. Nothing is stored for later threads then.
	Memory Memory
	// Index may be nil. Lists read rollouts then, and searches are rejected.
	Index Index
	Log   *zap.Logger
	// NewID returns a UUIDv7. The default is that of google/uuid.
	NewID func() string
	// Version is the version of this program. Source is the kind of its clients in session_meta;
	// nil is vscode, which many clients list only. Originator returns the name of a client.
	Version    string
	Source     json.RawMessage
	Originator func(conn uint64) string
	// WantsChanges reports whether a client keeps the list of context items and needs only its
	// changes. It may be nil.
	WantsChanges func(conn uint64) bool
	// Clients returns the connections that get global notifications. It may be nil.
	Clients func() []uint64
	// Connected reports whether a connection is open. Call Engine.Disconnect after it becomes
	// false. Nil means that all connections are open.
	Connected func(conn uint64) bool
	// CompletedFloor is core.Options.CompletedFloor of every thread.
	CompletedFloor time.Duration
	// AnswerLead is the minimum time from the response to turn/start to the first output of the
	// model.
	AnswerLead time.Duration
	// Spread varies the delay before a retry. It may be nil.
	Spread func(time.Duration) time.Duration
}

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
	requests       atomic.Uint64 // numbers the requests of the server
	proxied        *proxiedRequests
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

// New returns an engine without threads.
func New(p Parts) *Engine {
	if p.NewID == nil {
		p.NewID = newID
	}
	if p.Source == nil {
		p.Source = protocol.StoredSource(protocol.SourceVSCode)
	}
	open := &proxiedRequests{open: map[protocol.Caller]*proxiedRequest{}}
	p.Outbox = proxyOutbox{p.Outbox, open}
	return &Engine{parts: p, proxied: open, threads: map[string]*actor{}, announced: map[string]bool{},
		watchers: map[uint64]bool{}, readers: make(chan struct{}, maxReaders),
		oneshotServers: make(chan struct{}, maxOneshotServers), haveList: make(chan struct{}, 1), ended: make(chan struct{})}
}

// tokenizer returns the tokenizer, or nil.
func (e *Engine) tokenizer() history.Tokenizer {
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

// post adds a request to the mailbox of a thread without waiting. Without an actor for the thread
// it makes one if create is set, and returns false otherwise.
func (e *Engine) post(id string, create bool, r request) (found bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return false, errShuttingDown()
	}
	a := e.threads[id]
	if a == nil && !create {
		return false, nil
	}
	if a == nil {
		a = e.addLocked(id)
	}
	room := mailbox
	if r.urgent {
		room += urgentRoom
	}
	if len(a.requests) >= room { // e.mu excludes other senders
		return true, &protocol.Error{Code: protocol.CodeOverloaded, Message: "thread " + a.id +
			" has too many requests waiting; retry later",
			Data: &protocol.ErrorData{Kind: protocol.KindOverloaded}}
	}
	a.requests <- r
	return true, nil
}

func (e *Engine) addLocked(id string) *actor {
	a := e.makeLocked(id)
	e.work.Go(a.run)
	return a
}

func (e *Engine) makeLocked(id string) *actor {
	a := newActor(e, id)
	e.threads[id] = a
	e.order = append(e.order, id)
	return a
}

// reserve returns an actor for an unknown thread. It belongs to the caller until release. Posted
// requests wait until then.
func (e *Engine) reserve(id string) (*actor, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closing:
		return nil, errShuttingDown()
	case e.threads[id] != nil:
		return nil, errTaken(id)
	}
	return e.makeLocked(id), nil
}

// release starts a reserved actor, or removes it if it has no thread and no requests.
func (e *Engine) release(a *actor) {
	if a.thread == nil && e.forget(a) {
		return
	}
	e.work.Go(a.run)
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

// loaded returns the actors in the order in which they were made.
func (e *Engine) loaded() []*actor {
	e.mu.Lock()
	defer e.mu.Unlock()
	actors := make([]*actor, 0, len(e.order))
	for _, id := range e.order {
		actors = append(actors, e.threads[id])
	}
	return actors
}

// Close ends all turns, waits until their ends are written and sent, and closes the journals. It
// returns an error if ctx ends before.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	if !e.closing {
		e.closing = true
		close(e.ended)
	}
	e.mu.Unlock()
	for _, a := range e.loaded() {
		a.stop()
	}
	done := make(chan struct{})
	go func() {
		e.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("engine: threads did not end in time: %w", ctx.Err())
	}
}

// Aside replies to a request without a thread from another goroutine.
func (e *Engine) Aside(to protocol.Caller, answer func() (any, error)) error {
	return e.background(to, answer)
}

// background replies to a request from another goroutine, because it reads the disk.
func (e *Engine) background(to protocol.Caller, answer func() (any, error)) error {
	return e.aside(to.Conn, func() { e.answer(to, answer) })
}

// aside runs do for a client in another goroutine, at most maxReaders at a time.
func (e *Engine) aside(conn uint64, do func()) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return errShuttingDown()
	}
	e.work.Add(1)
	go func() {
		defer e.work.Done()
		e.awaitRoom(conn)
		e.readers <- struct{}{}
		defer func() { <-e.readers }()
		do()
	}()
	return nil
}

func (e *Engine) answer(to protocol.Caller, answer func() (any, error)) {
	var result any
	var err error
	if fault := e.catchPanic(func() { result, err = answer() }); fault != nil {
		err = fault
	}
	if err != nil {
		e.parts.Outbox.Refuse(to, withCode(err))
		return
	}
	e.parts.Outbox.Reply(to, result)
}

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

func errShuttingDown() *protocol.Error {
	return protocol.Refuse(protocol.KindShuttingDown, "the server is shutting down")
}
