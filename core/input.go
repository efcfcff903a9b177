package core

import (
	"time"

	"appserver/protocol"
)

// Input is one event for a thread.
type Input interface {
	// apply changes the thread, and adds lines, messages and effects to the step.
	apply(s *step)
}

// Stamp has the time and sources of ids of an input. The core has neither clock nor randomness.
type Stamp struct {
	Now time.Time
	// NewID returns a new UUIDv7.
	NewID func() string
	// NextRequest returns the id of the server's next request, unique over all threads.
	NextRequest func() uint64
}

// LocalImage is a local image file: its data: URL, or the reason why it cannot be sent.
type LocalImage struct{ URL, Problem string }

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
