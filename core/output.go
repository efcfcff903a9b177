package core

import (
	"encoding/json"
	"time"

	"appserver/core/pure/compaction"
	"appserver/core/pure/patch"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// Output has the lines, messages and effects of a step, in the order of their execution.
type Output struct {
	// Lines are appended before anything else.
	Lines []protocol.RolloutLine
	// Sync is set if the lines must be on disk before the messages leave.
	Sync bool
	// Archive is set if the thread is unloaded and its rollout archived before the messages leave.
	// Such a step has no lines and no effects.
	Archive bool
	// Messages are sent after the lines are durable.
	Messages []Message
	// Effects are started last.
	Effects []Effect
	// Fault is set if the step has found its thread in a wrong state. Nothing else of the output may be used, and the
	// thread must be loaded again.
	Fault error
	// transitions are the states of the turn within the step, for tests.
	transitions []turnTransition
}

// Message is for clients: a Reply, a Refusal, a Notice, a Request or a ContextChanged.
type Message interface{ message() }

// Reply is a successful response.
type Reply struct {
	To     protocol.Caller
	Result any
}

// Refusal is an error response.
type Refusal struct {
	To  protocol.Caller
	Err *protocol.Error
}

// Notice is a notification for all subscribers.
type Notice struct{ protocol.Notification }

// Request is a request to all subscribers. The first ClientAnswer with its id counts.
type Request struct {
	ID     uint64
	Method string
	Params any
	// Only is the id of the single connection to ask, or 0 for all.
	Only uint64
}

func (Reply) message()   {}
func (Refusal) message() {}
func (Notice) message()  {}
func (Request) message() {}

// EffectID identifies an effect within its thread.
type EffectID uint64

// Effect is work outside of the core.
type Effect interface{ effect() }

// ModelRequest sends a request to a model.
type ModelRequest struct {
	ID     EffectID
	TurnID string
	Prompt *Prompt
	// Answered is the time of the last response that accepted input for the turn. Clients may
	// process notifications of the turn only some time later.
	Answered time.Time
}

// RunTool runs a command.
type RunTool struct {
	ID      EffectID
	TurnID  string
	Command Command
	// Track is nil if changes are not recorded. For a background command it covers the changes
	// within Watch, since later ones cannot be attributed.
	Track *Track
	Watch time.Duration
}

// Track captures files before and after an effect. Turn is the turn of the effect. Dir is a
// directory in the worktree. Before has the net changes of the turn so far, for its diff. Keep is
// set if the captures must survive garbage collection.
type Track struct {
	Turn, Dir string
	Before    []protocol.WorktreeChanges
	Keep      bool
}

// Command is a command to run. PATH is searched for Argv[0].
type Command struct {
	Argv []string
	Cwd  string
	// Timeout ends the command, or is 0.
	Timeout time.Duration
	Sandbox protocol.SandboxPolicy
	// Unconfined is set if the kernel could not confine commands when this one was allowed to run. Otherwise it runs
	// confined to Sandbox, or not at all.
	Unconfined bool
	// Access limits the command further than Sandbox.
	Access Access
	// Workspace is the thread's working directory. Sandbox refers to it.
	Workspace   string
	Environment EnvironmentPolicy
	// Stays is set if the command can outlive its turn. All of its output is returned, since the
	// model can read it later.
	Stays bool
	// TTY is set if the command runs on a terminal and takes input.
	TTY bool
}

// Access is a limit on a command, beside its sandbox policy.
type Access int

const (
	// AccessOfPolicy permits as much as the sandbox policy does.
	AccessOfPolicy Access = iota
	// AccessReading is for commands that run without a question because they only read: they are confined to reading,
	// or do not run. If Unconfined is set, the kernel confines without namespaces.
	AccessReading
	// AccessUnconfinedReading is for such commands if the kernel can confine nothing. Their environment names no
	// program to run.
	AccessUnconfinedReading
)

// EnvironmentPolicy selects the environment variables of commands, beside those for plain output.
// The zero value selects the server's variables without secrets.
type EnvironmentPolicy struct {
	// Inherit is one of the Inherit constants. "" is InheritAll.
	Inherit string
	// KeepSecrets keeps variables that seem to have secrets, Keep has patterns of names of those to keep. The keys of
	// model providers and the server's own variables are never passed.
	KeepSecrets bool
	Keep        []string
	// Exclude has patterns of names to remove from the inherited variables. If IncludeOnly is not
	// empty, only names that match it remain, inherited or set.
	Exclude, IncludeOnly []string
	// Set has additional variables.
	Set map[string]string
	// NoProfile runs commands of the model in a shell that reads no profile.
	NoProfile bool
}

// The inherited variables: all, the ones by which programs find the user, or none.
const (
	InheritAll  = "all"
	InheritCore = "core"
	InheritNone = "none"
)

// MaxOutputPieces and MaxOutputBytes bound the output of one command that is sent to clients. Its
// item has the head and the tail of all output.
const (
	MaxOutputPieces = 10_000
	MaxOutputBytes  = 32 << 20
)

// MoreOutput replaces the output of a command above the limit.
const MoreOutput = "\n[... this is all that is shown while the command runs: its item has the end of the output ...]\n"

// PlanPatch computes the result of a patch and changes no file. Names are absolute or relative to
// Dir. It fails if a link leads from Dir out of Root, or from an absolute name out of its root in
// Roots. An empty Root permits every path. With Protect it fails if a link leads into a protected
// folder of Roots.
type PlanPatch struct {
	ID     EffectID
	TurnID string
	Root   string
	Dir    string
	Roots  []string
	// Protect is set if the sandbox policy restricts writes.
	Protect bool
	Text    string
	// Cut is set if the answer with the patch was cut off, so that the text may lack its end.
	Cut bool
}

// WritePatch writes all files of a planned patch, or none. It fails if a file changed since it was
// planned, and in the cases of PlanPatch.
type WritePatch struct {
	ID     EffectID
	TurnID string
	Root   string
	Dir    string
	Roots  []string
	// Protect has the meaning of PlanPatch.
	Protect bool
	Files   []patch.File
	// Track has the meaning of RunTool.
	Track *Track
}

// Paths returns the absolute paths of the files.
func (e WritePatch) Paths() (paths []string) {
	for _, f := range e.Files {
		paths = append(paths, patch.Full(e.Dir, f.Path))
	}
	return paths
}

// Timer fires once, after Delay.
type Timer struct {
	ID    EffectID
	Delay time.Duration
	// Spread is set if the delay may vary a little, so that clients that failed together do not
	// retry together.
	Spread bool
}

// Cancel ends an effect early.
type Cancel struct{ ID EffectID }

// RecordName stores the thread's name for other programs. It has no terminal input.
type RecordName struct{ Name string }

func (ModelRequest) effect() {}
func (RunTool) effect()      {}
func (PlanPatch) effect()    {}
func (WritePatch) effect()   {}
func (Timer) effect()        {}
func (Cancel) effect()       {}
func (RecordName) effect()   {}

// Prompt is the content of a model request.
type Prompt struct {
	ThreadID string
	// SessionID is the prompt cache key. Requests with the same id begin alike.
	SessionID string
	Provider  string
	Model     string
	// Instructions are the system prompt and the developer's instructions.
	Instructions string
	// Items is the context, in order. The output of a call follows it before any other message.
	Items []protocol.ResponseItem
	Tools []ToolSpec
	// WebSearch is the provider's search of the web, or nil if it is not offered.
	WebSearch *WebSearchTool
	Effort    string
	// Summary selects the summary of reasoning: auto, concise, detailed or none.
	Summary string
	// Verbosity is the length of the text: low, medium or high. "" is the model's default.
	Verbosity    string
	ServiceTier  string
	OutputSchema json.RawMessage
	// Summarises is set for a request that summarises the conversation.
	Summarises bool
	// NoImages is set if the model is known to take no images. Providers replace them by notes.
	NoImages bool
}

// Types of package compaction that packages use which import the core only.
type (
	// CompactionRules are the rules of compactions of a thread.
	CompactionRules = compaction.Rules
	// CompactionShares are shares of the context window.
	CompactionShares = compaction.Shares
)

// Types of package toolspec that packages use which import the core only.
type (
	// ToolSpec offers a tool to the model.
	ToolSpec = toolspec.Spec
	// CommandRules are a user's rules for commands.
	CommandRules = toolspec.CommandRules
	// CommandRule is a rule for commands.
	CommandRule = toolspec.CommandRule
	// ServerTool is a tool of an MCP server.
	ServerTool = toolspec.ServerTool
	// Offer is the way in which a model gets the definition of a tool.
	Offer = toolspec.Offer
	// ServerToolResult is the result of a tool of an MCP server.
	ServerToolResult = toolspec.ServerResult
	// WebSearch configures the provider's search of the web.
	WebSearch = toolspec.WebSearch
	// WebSearchTool is the search as a request offers it.
	WebSearchTool = toolspec.WebSearchTool
)

// WebSearchCached is the mode of searches in an index of the provider.
const WebSearchCached = toolspec.WebSearchCached

// The ways in which tools of servers are offered.
const (
	OfferDirect   = toolspec.OfferDirect
	OfferBySearch = toolspec.OfferBySearch
)

// The decisions of rules for commands.
const (
	RuleAllows  = toolspec.RuleAllows
	RulePrompts = toolspec.RulePrompts
	RuleForbids = toolspec.RuleForbids
)
