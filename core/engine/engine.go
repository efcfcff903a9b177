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

// Model answers prompts.
type Model interface {
	// Stream sends the prompt and gives the pieces of the answer as they come. It
	// returns when the answer is whole or has failed; the error is a
	// *core.ModelError.
	Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error)
	// Render gives the messages and the tools of the request that Stream would send.
	Render(p *core.Prompt) (messages, tools []json.RawMessage, err error)
}

// Tokens count tokens.
type Tokens interface {
	history.Tokenizer
	// Prepare loads what Count needs for a model.
	Prepare(model string)
}

// Tools run commands.
type Tools interface {
	// Run runs the command to its end, or to the end of ctx. started is called once
	// before output, and not at all where the command could not be started. What keys
	// gives is typed on its terminal.
	Run(ctx context.Context, c core.Command, keys <-chan string, started func(pid string), output func(text string)) core.ToolResult
}

// Patches apply patches.
type Patches interface {
	// Plan is what a patch does; it changes nothing.
	Plan(core.PlanPatch) core.PatchPlanned
	// Write changes the files, all or none.
	Write(core.WritePatch) core.PatchWritten
}

// Outbox takes what is said to clients. Its methods do not block.
type Outbox interface {
	Reply(to protocol.Caller, result any)
	Refuse(to protocol.Caller, err *protocol.Error)
	Notify(conn uint64, n protocol.Notification)
	// Ask sends a request with this id; answer is called at most once.
	Ask(conn, id uint64, method string, params any, answer func(result json.RawMessage, err error))
	// Congested is nil while the client keeps up, and otherwise closed once it does.
	Congested(conn uint64) <-chan struct{}
	// Behind is true for a client that leaves so much unread that it is to ask nothing more.
	Behind(conn uint64) bool
}

// Index knows what is in stored threads.
type Index interface {
	// List is rollout.Store.List without reading rollouts; it is false where they have to
	// be read.
	List(q rollout.Query) (rollout.Page, bool)
	// Search finds the threads with a text; it waits a moment for an index that is being
	// built, though not longer than ctx.
	Search(ctx context.Context, q rollout.Query) (rollout.Hits, error)
	// CheckDelete is rollout.Store.CheckDelete for a thread that is there; it is not known where
	// rollouts have to be read.
	CheckDelete(id string) (known bool, err error)
	// Skipped are as those of rollout.Page, of what was come across since the last call.
	Skipped() []error
	// Note tells that a rollout was written to. It does not wait.
	Note(path string)
	// Diagnose tells how the index is. It does not wait.
	Diagnose() protocol.IndexDiagnostics
}

// Setup decides what threads run with.
type Setup interface {
	// Template is what a new thread begins with.
	Template(p *protocol.ThreadStartParams) (Template, error)
	// Defaults are settings that a stored thread does not tell.
	Defaults() core.Settings
	// Offers are what a model of a provider is offered if no thread's configuration counts.
	Offers(provider, model string) core.Capabilities
	// Resumed are a stored thread's settings with the client's overrides.
	Resumed(p *protocol.ThreadResumeParams, stored core.Settings) (core.Settings, Scope, error)
	// Skills are the skills that an input names, with their texts. It reads the disk.
	Skills(scope Scope, cwd string, input []protocol.UserInput) []core.SkillText
	// World is what a turn with these settings is to know. An error refuses the turn;
	// one of kind providerNotReady says what is missing.
	World(scope Scope, s core.Settings) (core.TurnEnv, error)
	// Tracking says what is kept of the files that turns of a thread change.
	Tracking(scope Scope) core.Tracking
	// Memory says what is remembered of a thread.
	Memory(scope Scope) core.MemoryRules
	// RewriteOnUnload tells whether the rollout of a thread is rewritten when it is
	// unloaded.
	RewriteOnUnload(scope Scope) bool
	// Redactor takes secrets out of what is written of a thread; nil takes none.
	Redactor(scope Scope) Redactor
	// UnloadDelay is how long a thread stays loaded that nobody is subscribed to; below 0
	// it does for good.
	UnloadDelay(scope Scope) time.Duration
	// Persists is false where threads are kept in memory only.
	Persists(scope Scope) bool
	// Deprecations returns a notice for each deprecated setting of a thread.
	Deprecations(scope Scope) []protocol.DeprecationNoticeNotification
}

// Redactor takes secrets out of what goes to the disk.
type Redactor interface {
	// Line is a line without them; it changes nothing of the one that it is given.
	Line(protocol.RolloutLine) protocol.RolloutLine
	Text(string) string
}

// Scope is what a Setup keeps for a thread: the configuration that holds for it. The
// engine hands it back and looks at it never; nil stands for what holds for all.
type Scope any

// Template is what a new thread begins with.
type Template struct {
	Settings              core.Settings
	BaseInstructions      *string
	DeveloperInstructions *string
	// Persist is false where threads are kept in memory only.
	Persist bool
	Scope   Scope
	// Warnings are about what the client asked for and does not get.
	Warnings []string
	// ConfigWarnings are about files of the configuration.
	ConfigWarnings []string
}

// Parts are what an engine is made of.
type Parts struct {
	Store   *rollout.Store
	Model   Model
	Tools   Tools
	Patches Patches
	// Worktrees may be nil: then nothing is known of the files that turns change.
	Worktrees Worktrees
	// Announce tells a program of the user's of a completed turn, and does not wait. It may be
	// nil.
	Announce func(scope Scope, thread string, e core.AnnounceTurn)
	// Image reads the image file of a path, as a data: URL. With confined it reads what
	// confined commands can read.
	Image func(path string, confined bool) (url string, err error)
	// Tokens may be nil: then a token is counted for every four bytes.
	Tokens Tokens
	Outbox Outbox
	Setup  Setup
	// Servers may be nil: then there are no MCP servers.
	Servers Servers
	// Memory may be nil: then nothing is remembered.
	Memory Memory
	// Index may be nil: then lists read rollouts, and nothing can be searched.
	Index Index
	Log   *zap.Logger
	// NewID gives UUIDv7s; the default is google/uuid's.
	NewID func() string
	// Version is this program's, Source the kind of its clients as session_meta has it
	// (nil is vscode, which many clients list only), Originator the client's name.
	Version    string
	Source     json.RawMessage
	Originator func(conn uint64) string
	// WantsChanges tells whether a client keeps the list of context items itself; nil
	// stands for no.
	WantsChanges func(conn uint64) bool
	// Clients are the connections that are told what concerns no connection in particular;
	// nil stands for none.
	Clients func() []uint64
	// Connected is false for a connection that has ended, of which Leave is told then; nil
	// stands for connections that all stay.
	Connected func(conn uint64) bool
	// CompletedFloor is core.Options.CompletedFloor of every thread.
	CompletedFloor time.Duration
	// AnswerLead is how long the answer to turn/start is ahead of all that the model says.
	AnswerLead time.Duration
	// Spread changes the delay before a retry a little; nil leaves it.
	Spread func(time.Duration) time.Duration
}

const (
	// maxReaders is how many requests read the disk at once.
	maxReaders = 4
	// maxVisits is how many requests of no thread have MCP servers of their own at once.
	maxOneshotServers = 4
)

// Engine holds the loaded threads.
type Engine struct {
	parts          Parts
	requests       atomic.Uint64 // numbers the requests of the server
	proxied        *proxiedRequests
	readers        chan struct{}
	oneshotServers chan struct{}
	work           sync.WaitGroup // actors and background reads
	haveList       chan struct{}  // holds a token once a list was answered
	tidied         sync.Once

	mu        sync.Mutex
	threads   map[string]*actor
	order     []string // ids of threads, oldest first
	closing   bool
	announced map[string]bool // what is said once
	prepared  map[string]bool // models whose tokens can be counted at once
	watchers  map[uint64]bool // connections that are told how far the index is
	ended     chan struct{}   // closed when closing is set
}

// New is an engine without threads.
func New(p Parts) *Engine {
	if p.NewID == nil {
		p.NewID = newID
	}
	if p.Source == nil {
		p.Source = protocol.StoredSource(protocol.SourceVSCode)
	}
	open := &proxiedRequests{open: map[protocol.Caller]*proxiedRequest{}}
	p.Outbox = proxyOutbox{p.Outbox, open}
	return &Engine{parts: p, proxied: open, threads: map[string]*actor{}, announced: map[string]bool{}, watchers: map[uint64]bool{}, readers: make(chan struct{}, maxReaders), oneshotServers: make(chan struct{}, maxOneshotServers), haveList: make(chan struct{}, 1), ended: make(chan struct{})}
}

// tokenizer is nil where none was given.
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

// post hands a request to the thread's actor without waiting. Where there is none it is
// made, or found is false.
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
	if len(a.requests) >= room { // nobody else adds to it meanwhile
		return true, &protocol.Error{Code: protocol.CodeOverloaded, Message: "thread " + a.id + " has too many requests waiting; retry later",
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

// reserve is an actor for a thread that nobody has. It belongs to the caller until that
// releases it; what is posted to it waits.
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

// release lets a reserved actor run, or go where it has no thread and nothing waits for it.
func (e *Engine) release(a *actor) {
	if a.thread == nil && e.forget(a) {
		return
	}
	e.work.Go(a.run)
}

// forget removes an actor that nothing waits for.
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

// loaded are the actors in the order in which they were loaded.
func (e *Engine) loaded() []*actor {
	e.mu.Lock()
	defer e.mu.Unlock()
	actors := make([]*actor, 0, len(e.order))
	for _, id := range e.order {
		actors = append(actors, e.threads[id])
	}
	return actors
}

// Close ends all turns, waits for their ends to be written and said, and closes the
// journals. It gives up when ctx ends.
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

// Aside answers a request that needs no thread, away from the read loop.
func (e *Engine) Aside(to protocol.Caller, answer func() (any, error)) error {
	return e.background(to, answer)
}

// background answers a request away from the read loop.
func (e *Engine) background(to protocol.Caller, answer func() (any, error)) error {
	return e.aside(to.Conn, func() { e.answer(to, answer) })
}

// aside does what a client has asked for away from the read loop.
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

// awaitRoom waits while a client does not take what it was told.
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
