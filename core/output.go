package core

import (
	"encoding/json"
	"time"

	"appserver/core/patch"
	"appserver/core/toolspec"
	"appserver/protocol"
)

// Output is what a step asks for.
type Output struct {
	// Lines are to be appended, in order, before anything else.
	Lines []protocol.RolloutLine
	// Sync is set where the lines must be on disk before the messages leave.
	Sync bool
	// Archive is set where the thread is to be unloaded and its rollout archived before the
	// messages leave. Such a step has no lines and no effects.
	Archive bool
	// Messages are to be said, in order, after that.
	Messages []Message
	// Effects are to be started, in order, last.
	Effects []Effect
}

// Message is Reply, Refusal, Notice or Request.
type Message interface{ message() }

// Reply answers a caller.
type Reply struct {
	To     protocol.Caller
	Result any
}

// Refusal answers a caller with an error.
type Refusal struct {
	To  protocol.Caller
	Err *protocol.Error
}

// Notice tells every subscriber.
type Notice struct{ protocol.Notification }

// Request asks every subscriber; the first ClientAnswer with its id counts.
type Request struct {
	ID     uint64
	Method string
	Params any
	// Only is the one connection to ask, 0 for all.
	Only uint64
}

func (Reply) message()   {}
func (Refusal) message() {}
func (Notice) message()  {}
func (Request) message() {}

// EffectID tells the effects of a thread apart.
type EffectID uint64

// Effect is something to start outside the machine.
type Effect interface{ effect() }

// ModelRequest is a model request.
type ModelRequest struct {
	ID     EffectID
	TurnID string
	Prompt *Prompt
	// Answered is when the client was last answered that the turn has its input. It may
	// listen to what the turn says from a moment later only.
	Answered time.Time
}

// RunTool runs a command.
type RunTool struct {
	ID      EffectID
	TurnID  string
	Command Command
	// Track is nil where nothing of what it changes is kept. Of a command that stays it is
	// what it changes within Watch: beyond, nobody could tell its changes from others'.
	Track *Track
	Watch time.Duration
}

// Command is a command to run: Argv[0] is found by PATH.
type Command struct {
	Argv []string
	Cwd  string
	// Timeout ends the command; 0 means none.
	Timeout time.Duration
	Sandbox protocol.SandboxPolicy
	// Workspace is the thread's working directory, which Sandbox speaks of.
	Workspace   string
	Environment EnvironmentPolicy
	// Stays is set where the command can outlive its turn: all of its output comes back, since the
	// model may read it later.
	Stays bool
	// TTY is set where it runs on a terminal, and takes Typing.
	TTY bool
}

// EnvironmentPolicy says which variables commands get, beside those that keep their output
// plain. The zero value is the server's, without secrets.
type EnvironmentPolicy struct {
	// Inherit is one of the Inherit constants, "" for InheritAll.
	Inherit string
	// KeepSecrets keeps variables whose names are those of secrets. The keys of model
	// providers, and what is the server's own, never stay.
	KeepSecrets bool
	// Exclude are patterns of names that are left out of what is inherited; of that and
	// of what is set IncludeOnly, unless it is empty, has the names that stay.
	Exclude, IncludeOnly []string
	// Set are variables and their values.
	Set map[string]string
}

// What commands inherit: everything, what programs need to find the user, or nothing.
const (
	InheritAll  = "all"
	InheritCore = "core"
	InheritNone = "none"
)

// PlanPatch reads the files that a patch names, and changes none. Names are relative to Dir, or
// absolute. It fails if Dir leads out of Root by a link, or an absolute name out of the one of
// Roots that it is below. An empty Root holds nothing. With Protect it fails if a link leads into a
// protected folder of Roots.
type PlanPatch struct {
	ID     EffectID
	TurnID string
	Root   string
	Dir    string
	Roots  []string
	// Protect is set unless the sandbox policy lets everything be written.
	Protect bool
	Text    string
}

// WritePatch makes files what they are to be, all or none. It fails where
// one is not what it was when the patch was planned, and as PlanPatch does.
type WritePatch struct {
	ID     EffectID
	TurnID string
	Root   string
	Dir    string
	Roots  []string
	// Protect is as that of PlanPatch.
	Protect bool
	Files   []patch.File
	// Track is as that of RunTool.
	Track *Track
}

// MaxOutputPieces and MaxOutputBytes bound what is sent to clients of the output of one command. The
// item of the command has the head and the tail of all of it.
const (
	MaxOutputPieces = 10_000
	MaxOutputBytes  = 32 << 20
)

// MoreOutput is the last piece of a command with more output than is sent.
const MoreOutput = "\n[... this is all that is shown while the command runs: its item has the end of the output ...]\n"

// Timer fires once, after Delay.
type Timer struct {
	ID    EffectID
	Delay time.Duration
	// Spread is set where the delay may differ a little, so that clients which failed at the
	// same time do not come back at the same time.
	Spread bool
}

// Cancel ends an effect early.
type Cancel struct{ ID EffectID }

// RecordName puts the thread's name where other programs look for it. Nothing
// waits for it.
type RecordName struct{ Name string }

// Paths returns the absolute paths of the files.
func (e WritePatch) Paths() (paths []string) {
	for _, f := range e.Files {
		paths = append(paths, patch.Full(e.Dir, f.Path))
	}
	return paths
}

func (ModelRequest) effect() {}
func (RunTool) effect()      {}
func (PlanPatch) effect()    {}
func (WritePatch) effect()   {}
func (Timer) effect()        {}
func (Cancel) effect()       {}
func (RecordName) effect()   {}

// Prompt is a model request, whole.
type Prompt struct {
	ThreadID string
	// SessionID names what the request shares a beginning with.
	SessionID string
	Provider  string
	Model     string
	// Instructions are the system prompt and the developer's instructions.
	Instructions string
	// Items are the history, in order. Each call is followed by its output before
	// any other message.
	Items []protocol.ResponseItem
	Tools []ToolSpec
	// WebSearch is the provider's own search of the web, nil if the model is not offered it.
	WebSearch *WebSearchTool
	Effort    string
	// Summary is which summary of its reasoning the model is to give: auto, concise, detailed or none.
	Summary string
	// Verbosity is how long the text is to be: low, medium, high; "" leaves it to the model.
	Verbosity    string
	ServiceTier  string
	OutputSchema json.RawMessage
	// Summarises is set where the request is for a summary of the conversation in it.
	Summarises bool
}

// The types of package toolspec that other packages use with the core. They import the core only.
type (
	// ToolSpec offers a tool to the model.
	ToolSpec = toolspec.Spec
	// ServerTool is a tool of an MCP server.
	ServerTool = toolspec.ServerTool
	// ServerToolResult is the result of a tool of an MCP server.
	ServerToolResult = toolspec.ServerResult
	// WebSearch configures the provider's search of the web.
	WebSearch = toolspec.WebSearch
	// WebSearchTool is the search as a request offers it.
	WebSearchTool = toolspec.WebSearchTool
)

// WebSearchCached is the mode of searches in an index of the provider.
const WebSearchCached = toolspec.WebSearchCached
