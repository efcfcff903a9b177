package core

import (
	"encoding/json"
	"time"

	"appserver/core/pure/patch"
	"appserver/protocol"
)

// Stamp has the time and sources of ids of an input. The core has neither clock nor randomness.
type Stamp struct {
	Now time.Time
	// NewID returns a new UUIDv7.
	NewID func() string
	// NextRequest returns the id of the server's next request, unique over all threads.
	NextRequest func() uint64
}

// Start begins a new thread.
type Start struct {
	To       protocol.Caller
	Meta     protocol.SessionMeta
	Settings Settings
	Options  Options
	Env      TurnEnv
	// Warnings are sent to the client, such as settings that have no effect.
	Warnings []string
	// Replaces is the id of the archived thread that this one succeeds, or "".
	Replaces string
	// History has the context items of a thread that begins with thread/resume, and Resumes the
	// params. Both are nil for others.
	History []protocol.ResponseItem
	Resumes *protocol.ThreadResumeParams
}

// Resume subscribes a client to a thread. Fresh is set if the thread was loaded for this request.
// It takes the Settings and instructions then; a thread that was loaded before keeps its own.
type Resume struct {
	To     protocol.Caller
	Params *protocol.ThreadResumeParams
	Env    TurnEnv
	Fresh  bool
	// NoTurns is set if the thread cannot run turns in Env. A resumable turn stays resumable then.
	NoTurns bool
	// Settings are the current settings with the client's overrides.
	Settings Settings
	// BaseInstructions and DeveloperInstructions are the client's, or nil.
	BaseInstructions, DeveloperInstructions *string
	// Warnings are sent to the client: problems of the rollout.
	Warnings []string
}

// Read requests the thread's view.
type Read struct {
	To           protocol.Caller
	IncludeTurns bool
}

// SetName changes the name of the thread.
type SetName struct {
	To   protocol.Caller
	Name string
}

// Archive archives the thread, unless a turn is active. The engine posts EndTurn or ReleaseTurn
// before it.
type Archive struct {
	To protocol.Caller
	// Stored is set if the thread was loaded for this request only.
	Stored bool
	// Successor is the id of the new thread whose first step replies to the caller, or "".
	Successor string
}

// TurnStart is input of the user: for a new turn, or for the active one.
type TurnStart struct {
	To     protocol.Caller
	Params *protocol.TurnStartParams
	// Images are the local images of the input, by path.
	Images map[string]LocalImage
	// Skills are the skills that the input names.
	Skills []SkillText
	// Permissions are those that the params name, or nil.
	Permissions *Permissions
	Env         TurnEnv
}

// LocalImage is a local image file: its data: URL, or the reason why it cannot be sent.
type LocalImage struct{ URL, Problem string }

// TurnSteer is input for the active turn.
type TurnSteer struct {
	To     protocol.Caller
	Params *protocol.TurnSteerParams
	Images map[string]LocalImage
	Skills []SkillText
}

// TurnInterrupt interrupts the active turn.
type TurnInterrupt struct {
	To     protocol.Caller
	TurnID string
}

// EndTurn interrupts the active turn before the thread is archived, deleted or replaced. A finished
// turn keeps its outcome. turn/completed is not delayed.
type EndTurn struct{}

// CloseInterrupted records the end of a turn that a dead server left under way. A turn that waits for an
// answer only ends if Resumable is set.
type CloseInterrupted struct{ Resumable bool }

// ReleaseTurn completes a finished turn whose turn/completed is delayed.
type ReleaseTurn struct{}

// Shutdown ends the active turn, unless it waits for an answer only. There is no response.
type Shutdown struct{}

// StorageFailed reports a failed append to a thread that was loaded again from its rollout. Requests
// has the requests that the client had not answered.
type StorageFailed struct {
	Err      error
	Requests []uint64
	// Turn is the id of the turn that clients know as active, or "".
	Turn string
	// Waits is set if the turn waited for an answer only before the step.
	Waits bool
	// WaitingEdits is set if edits of the context waited for the end of the turn.
	WaitingEdits bool
	// Settings are the settings before the step whose lines were lost.
	Settings Settings
}

// ModelPiece is a streamed part of a model's answer.
type ModelPiece struct {
	Effect EffectID
	Piece  Piece
}

// Piece is text, reasoning, or a complete item.
type Piece struct {
	Kind PieceKind
	Text string
	// Item is set for PieceItem and PieceItemBegun only.
	Item *protocol.ResponseItem
	// Progress is set for PieceProgress only.
	Progress *protocol.PromptProgress
}

// PieceKind is the kind of a piece.
type PieceKind int

// The kinds of pieces.
const (
	PieceText PieceKind = iota
	PieceReasoning
	PieceReasoningSummary
	// PieceSummaryPart begins the next part of a summary. It has no text.
	PieceSummaryPart
	// PieceItem completes the item of the pieces before it, with the provider's form of it.
	// Providers without items send none.
	PieceItem
	// PieceItemBegun begins an item that the provider completes itself, such as a search of the
	// web. It has the members that are known.
	PieceItemBegun
	// PieceNotice tells people how a request was changed that the provider had refused. It comes before the answer.
	PieceNotice
	// PieceThought reports that the text of the message so far was reasoning. It has no text.
	PieceThought
	// PieceProgress reports how far the provider has read the prompt. It is no part of the answer.
	PieceProgress
)

// ModelDone ends a ModelRequest with the rest of the answer.
type ModelDone struct {
	Effect EffectID
	Answer Answer
	// PromptID is the hash of the request, as [RenderedPrompt.ID] returns it, or "".
	PromptID string
}

// Answer is the rest of a model's answer, beside its pieces. Usage is nil if the provider reports
// none.
type Answer struct {
	Calls []ToolCall
	Usage *protocol.TokenUsageBreakdown
	// Echo is data that goes back to the provider with an answer without calls, or nil.
	Echo *protocol.ProviderEcho
	// Cut is the reason if the provider ended the answer early, or "".
	Cut string
	// ContextWindow is the window of the model in tokens, as its provider reports it after the answer, or 0.
	ContextWindow int64
}

// echoes reports whether the provider needs a part of the answer back.
func (a *Answer) echoes() bool {
	return a.Echo != nil || len(a.Calls) > 0 && a.Calls[0].Echo != nil
}

// ToolCall is a tool call of the model. Arguments is JSON text of the model, and may be invalid.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
	// Custom is set if Arguments is the free text of a custom tool.
	Custom bool
	// Cut is set if the answer was cut off, so that the call may lack its end.
	Cut bool
	// Echo is data that goes back to the provider with the call, or nil.
	Echo *protocol.ProviderEcho
}

// ModelFailed ends a ModelRequest with an error.
type ModelFailed struct {
	Effect EffectID
	Err    *ModelError
	// PromptID has the meaning of ModelDone.
	PromptID string
}

// ModelError is a failed model request.
type ModelError struct {
	Message string
	Info    protocol.CodexErrorInfo
	// Details has more than Message, for people who debug.
	Details string
	// Retry is set if the same request can succeed later.
	Retry bool
	// Streaming is set if the answer had begun.
	Streaming bool
	// RetryAfter is the delay that the provider asks for, or 0.
	RetryAfter time.Duration
	// Window is the context window in tokens that the provider states for a prompt that does not fit, or 0.
	Window int64
	// MostTokens is the greatest number of tokens that the error names, or 0. It is 0 for errors about the answer.
	MostTokens int64
	// Encrypted is set if the provider cannot read encrypted content of the request.
	Encrypted bool
	// Loading is set if the server still loads the model.
	Loading bool
}

// Error returns the message.
func (e *ModelError) Error() string { return e.Message }

// ToolStarted reports that a command runs.
type ToolStarted struct {
	Effect    EffectID
	ProcessID string
}

// ToolOutput is a piece of a command's output.
type ToolOutput struct {
	Effect EffectID
	Text   string
}

// ToolDone ends a RunTool.
type ToolDone struct {
	Effect  EffectID
	Result  ToolResult
	Tracked *Tracked
}

// ToolResult is the result of a command. Output is bounded, with a mark for what is left out of its
// middle. Exactly one of ExitCode and Failure is set.
type ToolResult struct {
	Output   string
	ExitCode *int
	// Failure is the reason if there is no exit code: the command did not start, or a signal ended
	// it.
	Failure  string
	TimedOut bool
	Duration time.Duration
	// Withheld are the names of the variables that the command did not get, because they seem to have secrets.
	Withheld []string
	// Warnings are about what the command left and the sandbox took out of effect.
	Warnings []string
}

// PatchPlanned ends a PlanPatch, with the result of the patch or an error.
type PatchPlanned struct {
	Effect EffectID
	Result *patch.Result
	Err    error
}

// PatchWritten ends a WritePatch. With Err no file changed.
type PatchWritten struct {
	Effect  EffectID
	Err     error
	Tracked *Tracked
}

// ClientAnswer is the client's response to a request of the server. Err is set if the response is
// an error.
type ClientAnswer struct {
	Request uint64
	Result  json.RawMessage
	Err     error
}

// TimerFired ends a Timer.
type TimerFired struct{ Effect EffectID }

// Tracked has the changes of an effect. Diff is the diff of the turn so far, or nil without changes.
// Err is set if the changes are not completely known.
type Tracked struct {
	Changes protocol.WorktreeChanges
	Diff    *FileDiff
	Err     error
}

// FileDiff is a diff in git's form, and its counts. Cut is set if the text lacks a part, because it
// would be too long. The counts have all of it.
type FileDiff struct {
	Text    string
	Cut     bool
	Summary protocol.DiffSummary
}
