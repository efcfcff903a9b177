package engine

import (
	"context"
	"encoding/json"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout/store"
)

// Parts are the ports and settings of an engine. The engine copies them.
type Parts struct {
	Threads store.Threads
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
	Log    *zap.Logger
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
	// Clients returns the connections of clients. It may be nil.
	Clients func() []uint64
	// NotifyOthers sends a notification about all threads to the clients that have not got it: those without one
	// of the connections in sent. It may be nil.
	NotifyOthers func(sent []uint64, n protocol.Notification)
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

// Setup supplies the settings of threads from the configuration.
type Setup interface {
	// Template returns the settings of a new thread.
	Template(p *protocol.ThreadStartParams) (Template, error)
	// Defaults returns the settings for values that a rollout does not contain.
	Defaults() core.Settings
	// Capabilities returns the capabilities of a model without the configuration of a thread.
	Capabilities(provider, model string) core.Capabilities
	// TurnPermissions returns the permissions that a turn/start names, or nil. The settings have the directory of
	// the turn.
	TurnPermissions(scope Scope, p *protocol.TurnStartParams, settings core.Settings) (*core.Permissions, error)
	// Resumed returns the settings of a thread with the client's overrides.
	Resumed(p *protocol.ThreadResumeParams, stored core.Settings) (core.Settings, Scope, error)
	// Joined returns the settings and the scope of a loaded thread after a thread/resume. An error rejects the request.
	Joined(p *protocol.ThreadResumeParams, scope Scope, now core.Settings) (core.Settings, Scope, error)
	// OutputPriceRatio returns the price of an output token of a model over that of an input token that is
	// not cached, or nil if it is not known.
	OutputPriceRatio(scope Scope, model string) *float64
	// CacheFacts describes the cache of a model's provider.
	CacheFacts(scope Scope, provider, model string) core.CacheFacts
	// Economy returns the rules of automatic edits.
	Economy(scope Scope) core.EconomyRules
	// Skills returns the skills that an input names, with their texts. It reads the disk.
	Skills(scope Scope, cwd string, input []protocol.UserInput) []core.SkillText
	// TurnEnv returns the environment of a turn with these settings. An error rejects the turn. An
	// error of kind providerNotReady names the missing part of the provider's configuration.
	TurnEnv(scope Scope, s core.Settings) (core.TurnEnv, error)
	// Tracking returns the tracking mode of a thread's file changes.
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
	// Warnings returns the settings of a thread's own configuration that have no effect.
	Warnings(scope Scope) []string
	// ConfigWarnings returns the problems in the configuration files of a thread's project.
	ConfigWarnings(scope Scope) []string
	// Deprecations returns a notice for each deprecated setting of a thread.
	Deprecations(scope Scope) []protocol.DeprecationNoticeNotification
}

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
}

// Model sends prompts to providers.
type Model interface {
	// Stream sends the prompt and passes the pieces of the answer to emit as they arrive. It
	// returns after the last piece, or with a *core.ModelError.
	Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error)
	// Render returns the request that Stream would send.
	Render(p *core.Prompt) (core.RenderedPrompt, error)
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

// Patches applies patches.
type Patches interface {
	// Plan returns the effect of a patch, and changes nothing.
	Plan(core.PlanPatch) core.PatchPlanned
	// Write changes all of the files, or none.
	Write(core.WritePatch) core.PatchWritten
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

// Tokens counts tokens.
type Tokens interface {
	core.Tokenizer
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

// Memory stores summaries of items that left the contexts of threads, and indexes the files of
// repositories.
type Memory interface {
	// Key returns the repository of a directory.
	Key(dir string) string
	// Remember stores summaries of items that left the context of a thread. It applies redact to
	// all texts. It returns soon after the end of ctx.
	Remember(ctx context.Context, thread string, e core.Remember, redact func(string) string) core.Remembered
	// Recall searches the memories of a repository.
	Recall(ctx context.Context, e core.Recall) core.Recalled
	Search(ctx context.Context, q MemoryQuery) (protocol.MemorySearchResponse, error)
	List(ctx context.Context, p *protocol.MemoryListParams) (protocol.MemoryListResponse, error)
	// Forget deletes the memories with these ids, or all memories; only those of repo unless it is
	// empty.
	Forget(ctx context.Context, ids []string, all bool, repo string) (forgotten int, err error)
	Reset(ctx context.Context) error
	// Pause pauses or resumes the indexing of a repository. It returns false if the repository is
	// not indexed.
	Pause(repo string, paused bool) bool
	Status(ctx context.Context) (protocol.MemoryStatusResponse, error)
}

// MemoryQuery is a search in a repository. Empty kinds select all kinds.
type MemoryQuery struct {
	Repo, Text string
	Kinds      []string
	Limit      int
}

// Servers connects to MCP servers. Each owner has its own connections. The owner of a thread's
// connections is its id.
type Servers interface {
	// Open connects an owner to the servers of its configuration, in its working directory.
	// Existing connections stay. It does not wait.
	Open(owner string, scope Scope, cwd string)
	// Retry retries failed connections at once.
	Retry(owner string)
	// Disconnect closes an owner's connections. It does not wait.
	Disconnect(owner string)
	// Tools returns the available tools. If pending is set, more may follow soon.
	Tools(owner string) (tools []core.ServerTool, pending bool)
	// Await returns the tools when no connection is pending, or after a timeout.
	Await(ctx context.Context, owner string) []core.ServerTool
	// AwaitRequired waits until the owner's required servers are connected to, or quit is
	// closed. The error names those that failed.
	AwaitRequired(quit <-chan struct{}, owner string) error
	// Call calls a tool; it returns soon after the end of ctx.
	Call(ctx context.Context, owner string, c core.CallTool, progress func(message string)) core.ToolCalled
	// Answer replies to a question that [Engine].ServerAsks has passed on.
	Answer(question uint64, a protocol.McpServerElicitationRequestResponse)
	// Status returns the state of the servers, or of the named one. With full it includes their
	// resources.
	Status(ctx context.Context, owner, name string, full bool) []protocol.McpServerStatus
	// Read reads a resource.
	Read(ctx context.Context, owner, server, uri string) ([]json.RawMessage, error)
	// Forget removes the files of an owner that no longer exists.
	Forget(owner string)
	// Reload reads the configuration again.
	Reload() error
	// Login begins a login at a server of a thread, or of the configuration without a thread. It ends with ctx.
	Login(ctx context.Context, thread *string, p *protocol.McpServerOauthLoginParams) (*ServerLogin, error)
}

// ServerLogin is a login at a server that waits for the user.
type ServerLogin struct {
	// URL is the address that the user opens.
	URL string
	// Wait returns when the login has ended. Retry then retries the connections that need it.
	Wait  func() error
	Retry func()
}

// Worktrees captures worktrees as checkpoints of threads and reports file changes.
type Worktrees interface {
	// Capture stores the state of a worktree as a checkpoint.
	Capture(ctx context.Context, thread string, e core.CaptureTree) (protocol.StoredTree, error)
	// Track runs do and returns the file changes: those of absolute paths, or of the whole worktree
	// without paths. It runs do even if tracking fails. After the end of ctx it compares for a
	// moment longer. It returns nil if ctx ended before do.
	Track(ctx context.Context, thread string, t core.Track, paths []string, do func()) *core.Tracked
	// Diff returns the diff of changes.
	Diff(ctx context.Context, changes []protocol.WorktreeChanges) (core.FileDiff, error)
	// Compare returns the differences between two states. Nil is the current one.
	Compare(ctx context.Context, from, to []protocol.StoredTree) (core.FileDiff, error)
	// Restore reverts all of the changes or none, and stores the state before as a checkpoint. It
	// fails with core.ErrConflict if a file has changed since. With dry it changes nothing.
	Restore(ctx context.Context, thread, id string, changes []protocol.WorktreeChanges, dry bool) (*core.Restored, error)
	// Copy copies existing checkpoints to another thread.
	Copy(ctx context.Context, thread string, e core.CopyCheckpoints)
	// Forget deletes checkpoints.
	Forget(ctx context.Context, thread string, e core.DeleteCheckpoints)
	// ForgetThread deletes the checkpoints of a thread.
	ForgetThread(ctx context.Context, thread string)
}
