package core

import (
	"encoding/json"
	"time"

	"appserver/core/patch"
	"appserver/protocol"
)

// Stamp is what an input brings along because the machine may not fetch it: the
// time, and sources of ids.
type Stamp struct {
	Now time.Time
	// NewID gives a new UUIDv7.
	NewID func() string
	// NextRequest numbers requests of the server, unique over all threads.
	NextRequest func() uint64
}

// Input is anything that can happen to a thread.
type Input interface {
	// apply changes the thread, and adds lines, messages and effects to the step.
	apply(s *step)
}

// Start is the first input of a new thread.
type Start struct {
	To       protocol.Caller
	Meta     protocol.SessionMeta
	Settings Settings
	Options  Options
	Env      TurnEnv
	// Warnings are told to the client: what it asked for and does not get.
	Warnings []string
	// Replaces is the id of the thread that is archived for this one, "" for none.
	Replaces string
	// History has the first context items of a thread that begins with a thread/resume, and
	// Resumes the params of that; nil for others.
	History []protocol.ResponseItem
	Resumes *protocol.ThreadResumeParams
}

// Resume joins a client to a thread. Where Fresh is set the thread was loaded for
// this, and takes Settings and the instructions; a loaded thread keeps its own.
type Resume struct {
	To     protocol.Caller
	Params *protocol.ThreadResumeParams
	Env    TurnEnv
	Fresh  bool
	// Settings are the stored ones with the client's overrides.
	Settings Settings
	// BaseInstructions and DeveloperInstructions are the client's, nil where it gave
	// none.
	BaseInstructions, DeveloperInstructions *string
	// Warnings are told to the client: what of the rollout could not be read.
	Warnings []string
}

// Read asks for the thread's view.
type Read struct {
	To           protocol.Caller
	IncludeTurns bool
}

// SetName names the thread.
type SetName struct {
	To   protocol.Caller
	Name string
}

// Archive takes the thread out of use, unless a turn is under way: EndTurn or ReleaseTurn come
// first.
type Archive struct {
	To protocol.Caller
	// Stored is set where the thread was loaded for this alone.
	Stored bool
	// Successor is the id of the thread that takes its place, and whose first step answers
	// the caller; "" for none.
	Successor string
}

// TurnStart is the user's input: a new turn, or more for the one under way.
type TurnStart struct {
	To     protocol.Caller
	Params *protocol.TurnStartParams
	// Images are the local images in the input, by path.
	Images map[string]LocalImage
	// Skills are those that the input names.
	Skills []SkillText
	Env    TurnEnv
}

// LocalImage is an image file of the user's: its data: URL, or why it cannot be sent.
type LocalImage struct{ URL, Problem string }

// TurnSteer is more input for the turn under way.
type TurnSteer struct {
	To     protocol.Caller
	Params *protocol.TurnSteerParams
	Images map[string]LocalImage
	Skills []SkillText
}

// TurnInterrupt ends the turn under way.
type TurnInterrupt struct {
	To     protocol.Caller
	TurnID string
}

// EndTurn interrupts the turn under way for a request that ends the thread. A turn that has
// ended already completes as it ended. Its turn/completed is not held back.
type EndTurn struct{}

// ReleaseTurn completes a turn that has ended and whose turn/completed is held back.
type ReleaseTurn struct{}

// Shutdown ends the turn under way without an answer to anyone.
type Shutdown struct{}

// StorageFailed tells a thread, loaded anew from its rollout, that lines could not
// be appended to it. Requests are those that the client had not answered.
type StorageFailed struct {
	Err      error
	Requests []uint64
	// Turn is the one that clients know to be under way, "" for none.
	Turn string
	// Settings are those before the step whose lines were lost.
	Settings Settings
}

// ModelPiece is a part of a model's answer as it streams in.
type ModelPiece struct {
	Effect EffectID
	Piece  Piece
}

// Piece is text, reasoning, or an item that is whole.
type Piece struct {
	Kind PieceKind
	Text string
	// Item is set for PieceItem and PieceItemBegun only.
	Item *protocol.ResponseItem
}

// PieceKind tells the kinds of pieces apart.
type PieceKind int

// The kinds of pieces.
const (
	PieceText PieceKind = iota
	PieceReasoning
	PieceReasoningSummary
	// PieceSummaryPart begins a further part of the summary. It has no text.
	PieceSummaryPart
	// PieceItem ends the item of the pieces before it, and has it as the provider gave it. Providers
	// that know no items send none.
	PieceItem
	// PieceItemBegun begins an item that the provider fills by itself, such as a search of the web. It
	// has the item as far as it is known.
	PieceItemBegun
)

// ModelDone ends a Sample with the model's whole answer.
type ModelDone struct {
	Effect EffectID
	Answer Answer
}

// Answer is what a model's answer holds beside its pieces. Usage is nil where the
// provider gives none.
type Answer struct {
	Calls []ToolCall
	Usage *protocol.TokenUsageBreakdown
	// Echo is what the provider wants back with an answer that calls nothing.
	Echo *protocol.ProviderEcho
	// Cut says why the provider ended the answer before the model did, "" where it did
	// not.
	Cut string
}

// echoes tells whether something of the answer goes back to its provider.
func (a *Answer) echoes() bool {
	return a.Echo != nil || len(a.Calls) > 0 && a.Calls[0].Echo != nil
}

// ToolCall is a tool call of the model. Arguments is the JSON text that it wrote,
// which need not be valid.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
	// Custom is set if Arguments is the free text of a custom tool.
	Custom bool
	// Echo is what the provider wants back with the call.
	Echo *protocol.ProviderEcho
}

// ModelFailed ends a Sample without an answer.
type ModelFailed struct {
	Effect EffectID
	Err    *ModelError
}

// ModelError is a failed model request.
type ModelError struct {
	Message string
	Info    protocol.CodexErrorInfo
	// Details are for the curious, in addition to Message.
	Details string
	// Retry is set where the same request may succeed later.
	Retry bool
	// Streaming is set where the answer had begun.
	Streaming bool
	// RetryAfter is how long the provider asks to wait; 0 where it does not say.
	RetryAfter time.Duration
}

// Error is the message.
func (e *ModelError) Error() string { return e.Message }

// ToolStarted tells that a command runs.
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

// ToolResult is how a command ended. Output is bounded; what was left out of its
// middle is marked. Exactly one of ExitCode and Failure is set.
type ToolResult struct {
	Output   string
	ExitCode *int
	// Failure says why there is no exit code: it could not be started, or it was
	// ended by a signal.
	Failure  string
	TimedOut bool
	Duration time.Duration
}

// PatchPlanned ends a PlanPatch: with what the patch does, or with why it cannot be
// applied.
type PatchPlanned struct {
	Effect EffectID
	Result *patch.Result
	Err    error
}

// PatchWritten ends a WritePatch. Err says why no file was changed.
type PatchWritten struct {
	Effect  EffectID
	Err     error
	Tracked *Tracked
}

// ClientAnswer is the client's answer to a request of the server. Err is set where
// the client refused.
type ClientAnswer struct {
	Request uint64
	Result  json.RawMessage
	Err     error
}

// TimerFired ends a Timer.
type TimerFired struct{ Effect EffectID }

func (in Start) apply(s *step)  { s.start(in) }
func (in Resume) apply(s *step) { s.resume(in) }

func (in Read) apply(s *step) {
	s.reply(in.To, protocol.ThreadReadResponse{Thread: s.View(in.IncludeTurns)})
}

func (in SetName) apply(s *step)       { s.setName(in) }
func (in Archive) apply(s *step)       { s.archive(in) }
func (in TurnStart) apply(s *step)     { s.turnStart(in) }
func (in TurnSteer) apply(s *step)     { s.turnSteer(in) }
func (in TurnInterrupt) apply(s *step) { s.turnInterrupt(in) }
func (EndTurn) apply(s *step)          { s.endTurn() }
func (ReleaseTurn) apply(s *step)      { s.completePendingTurn() }
func (Shutdown) apply(s *step)         { s.shutdown() }
func (in StorageFailed) apply(s *step) { s.storageFailed(in) }
func (in ModelPiece) apply(s *step)    { s.modelPiece(in) }
func (in ModelDone) apply(s *step)     { s.modelDone(in) }
func (in ModelFailed) apply(s *step)   { s.modelFailed(in) }
func (in ToolStarted) apply(s *step)   { s.toolStarted(in) }
func (in ToolOutput) apply(s *step)    { s.toolOutput(in) }
func (in ToolDone) apply(s *step)      { s.toolDone(in) }
func (in PatchPlanned) apply(s *step)  { s.patchPlanned(in) }
func (in PatchWritten) apply(s *step)  { s.patchWritten(in) }
func (in ClientAnswer) apply(s *step)  { s.clientAnswer(in) }
func (in TimerFired) apply(s *step)    { s.timerFired(in) }
