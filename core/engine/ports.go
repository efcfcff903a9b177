package engine

import (
	"context"
	"encoding/json"
	"time"

	"appserver/core"
	"appserver/core/effects/mcp"
	"appserver/protocol"
)

// Outbox sends messages to clients. Its methods do not block.
type Outbox struct {
	Answers
	Messages
	Pressure
}

// Answers end requests of clients.
type Answers interface {
	Reply(to protocol.Caller, result any)
	Refuse(to protocol.Caller, err *protocol.Error)
}

// Messages begin with the server.
type Messages interface {
	Notify(conn uint64, n protocol.Notification)
	// Ask sends a request with this id; answer is called at most once.
	Ask(conn, id uint64, method string, params any, answer func(result json.RawMessage, err error))
}

// Pressure reports clients that do not read their output.
type Pressure interface {
	// Congested returns nil while the client reads its output, and otherwise a channel that is
	// closed when it does again.
	Congested(conn uint64) <-chan struct{}
	// Behind reports whether the client has so much unread output that its requests are rejected.
	Behind(conn uint64) bool
}

// Model sends prompts to providers.
type Model interface {
	// Stream sends the prompt and passes the pieces of the answer to emit as they arrive. It
	// returns after the last piece, or with a *core.ModelError.
	Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error)
	// Render returns the request that Stream would send.
	Render(p *core.Prompt) (core.RenderedPrompt, error)
}

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

// Patches applies patches.
type Patches interface {
	// Plan returns the effect of a patch, and changes nothing.
	Plan(core.PlanPatch) core.PatchPlanned
	// Write changes all of the files, or none.
	Write(core.WritePatch) core.PatchWritten
}

// Memory stores summaries of items that left the contexts of threads, and indexes the files of
// repositories.
type Memory struct {
	ThreadMemory
	MemoryViews
	MemoryChanges
}

// ThreadMemory is the memory as threads use it.
type ThreadMemory interface {
	// Key returns the repository of a directory.
	Key(dir string) string
	// Remember stores summaries of items that left the context of a thread. It applies redact to
	// all texts. It returns soon after the end of ctx.
	Remember(ctx context.Context, thread string, e core.Remember, redact func(string) string) core.Remembered
	// Recall searches the memories of a repository.
	Recall(ctx context.Context, e core.Recall) core.Recalled
}

// MemoryViews show the memory to clients.
type MemoryViews interface {
	Search(ctx context.Context, q MemoryQuery) (protocol.MemorySearchResponse, error)
	List(ctx context.Context, p *protocol.MemoryListParams) (protocol.MemoryListResponse, error)
	Status(ctx context.Context) (protocol.MemoryStatusResponse, error)
}

// MemoryChanges are changes of the memory by clients.
type MemoryChanges interface {
	// Forget deletes the memories with these ids, or all memories; only those of repo unless it is
	// empty.
	Forget(ctx context.Context, ids []string, all bool, repo string) (forgotten int, err error)
	Reset(ctx context.Context) error
	// Pause pauses or resumes the indexing of a repository. It returns false if the repository is
	// not indexed.
	Pause(repo string, paused bool) bool
}

// MemoryQuery is a search in a repository. Empty kinds select all kinds.
type MemoryQuery struct {
	Repo, Text string
	Kinds      []string
	Limit      int
}

// Servers connects to MCP servers. Each owner has its own connections. The owner of a thread's
// connections is its id.
type Servers struct {
	ServerConnections
	ServerTools
	ServerCalls
	ServerViews
	// Forget removes the files of an owner that no longer exists.
	Forget func(owner string)
	// Reload reads the configuration again.
	Reload func() error
	// Login begins a login at a server of a thread, or of the configuration without a thread. It ends with ctx.
	Login func(ctx context.Context, thread *string, p *protocol.McpServerOauthLoginParams) (*ServerLogin, error)
}

// ServerConnections are the connections of owners.
type ServerConnections interface {
	// Open connects an owner to servers. Existing connections to them stay, and others are closed. New ones notify
	// the observer. It does not wait.
	Open(owner string, servers []mcp.Definition, to mcp.Observer)
	// Retry retries failed connections at once.
	Retry(owner string)
	// Disconnect closes an owner's connections. It does not wait.
	Disconnect(owner string)
}

// ServerTools are the tools of connected servers.
type ServerTools interface {
	// Tools returns the available tools. If pending is set, more may follow soon.
	Tools(owner string) (tools []core.ServerTool, pending bool)
	// Await returns the tools when no connection is pending, or after the grace.
	Await(ctx context.Context, owner string, grace time.Duration) []core.ServerTool
	// AwaitRequired waits until the owner's required servers are connected to, or quit is
	// closed. The error names those that failed.
	AwaitRequired(quit <-chan struct{}, owner string) error
}

// ServerCalls are calls of tools, and questions that servers ask meanwhile.
type ServerCalls interface {
	// Call calls a tool; it returns soon after the end of ctx.
	Call(ctx context.Context, owner string, c core.CallTool, progress func(message string)) core.ToolCalled
	// Answer replies to a question that an observer got.
	Answer(question uint64, a protocol.McpServerElicitationRequestResponse)
}

// ServerViews show servers to clients.
type ServerViews interface {
	// Status returns the state of the servers, or of the named one. With full it includes their
	// resources.
	Status(ctx context.Context, owner, name string, full bool) []protocol.McpServerStatus
	// Read reads a resource.
	Read(ctx context.Context, owner, server, uri string) ([]json.RawMessage, error)
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
type Worktrees struct {
	Captures
	FileDiffs
	Checkpoints
}

// Captures read and restore worktrees.
type Captures interface {
	// Capture stores the state of a worktree as a checkpoint.
	Capture(ctx context.Context, thread string, e core.CaptureTree) (protocol.StoredTree, error)
	// Track runs do and returns the file changes: those of absolute paths, or of the whole worktree
	// without paths. It runs do even if tracking fails. After the end of ctx it compares for a
	// moment longer. It returns nil if ctx ended before do.
	Track(ctx context.Context, thread string, t core.Track, paths []string, do func()) *core.Tracked
	// Restore reverts all of the changes or none, and stores the state before as a checkpoint. It
	// fails with core.ErrConflict if a file has changed since. With dry it changes nothing.
	Restore(ctx context.Context, thread, id string, changes []protocol.WorktreeChanges, dry bool) (*core.Restored, error)
}

// FileDiffs compare the states of files.
type FileDiffs interface {
	// Diff returns the diff of changes.
	Diff(ctx context.Context, changes []protocol.WorktreeChanges) (core.FileDiff, error)
	// Compare returns the differences between two states. Nil is the current one.
	Compare(ctx context.Context, from, to []protocol.StoredTree) (core.FileDiff, error)
}

// Checkpoints are the stored states of worktrees.
type Checkpoints interface {
	// Copy copies existing checkpoints to another thread.
	Copy(ctx context.Context, thread string, e core.CopyCheckpoints)
	// Forget deletes checkpoints.
	Forget(ctx context.Context, thread string, e core.DeleteCheckpoints)
	// ForgetThread deletes the checkpoints of a thread.
	ForgetThread(ctx context.Context, thread string)
}
