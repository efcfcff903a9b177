package protocol

// TrimPoint is a boundary in a thread: what lies before it is not sent to the model,
// though it stays readable. Pinned items are sent all the same, and of a compaction
// messages of the user. CreatedAt is in Unix seconds. BeforeEntryID is the last thread item
// before the boundary, FirstKeptItemID the first behind it; null where there is none.
// PrunedMessageCount and PrunedTurnIDs are of the messages and the turns that this point
// took out of the context; those of earlier points are not among them. Summary stands in
// their place, null without one.
type TrimPoint struct {
	ID                 string   `json:"id"`
	CreatedAt          int64    `json:"createdAt"`
	BeforeEntryID      *string  `json:"beforeEntryId"`
	FirstKeptItemID    *string  `json:"firstKeptItemId"`
	PrunedMessageCount int      `json:"prunedMessageCount"`
	PrunedTurnIDs      []string `json:"prunedTurnIds"`
	Summary            *string  `json:"summary"`
	Reason             string   `json:"reason" oneof:"trim compaction historyLimit"`
}

// The reasons for a TrimPoint: somebody asked for it, it came with a compaction, or the
// context held more turns than history.maxSize allows.
const (
	TrimAsked        = "trim"
	TrimCompaction   = "compaction"
	TrimHistoryLimit = "historyLimit"
)

// SessionBootstrap is what a provider session begins with. Kind is turns where these are
// the turns of TurnIDs, summary where a summary comes before them, none where the session
// begins with nothing.
type SessionBootstrap struct {
	Kind    string   `json:"kind" oneof:"turns summary none"`
	TurnIDs []string `json:"turnIds"`
	Summary *string  `json:"summary"`
}

// The kinds of a SessionBootstrap.
const (
	BootstrapTurns   = "turns"
	BootstrapSummary = "summary"
	BootstrapNone    = "none"
)

// ThreadContextTrimParams takes all turns but the last KeepLastNTurns out of the context;
// without a number, all of them. Summary is put in their place.
type ThreadContextTrimParams struct {
	ThreadID       string  `json:"threadId"`
	KeepLastNTurns *uint32 `json:"keepLastNTurns,omitempty"`
	Summary        *string `json:"summary,omitempty"`
}

// ThreadContextTrimResponse tells the new trim point, and the provider session that the
// next model request opens.
type ThreadContextTrimResponse struct {
	TrimPoint TrimPoint `json:"trimPoint"`
	SessionID string    `json:"sessionId"`
}

// ThreadContextSummarizeParams gives a trim point a summary, the latest one where none is
// named. CompactDurationMs is how long making it took.
type ThreadContextSummarizeParams struct {
	ThreadID          string  `json:"threadId"`
	TrimPointID       *string `json:"trimPointId,omitempty"`
	Summary           string  `json:"summary"`
	CompactDurationMs *uint32 `json:"compactDurationMs,omitempty"`
}

// ThreadContextSummarizeResponse is the trim point with its summary.
type ThreadContextSummarizeResponse struct {
	TrimPoint TrimPoint `json:"trimPoint"`
}

// ThreadTrimPointCreatedNotification tells of a new trim point, or of one that a redo
// brought back.
type ThreadTrimPointCreatedNotification struct {
	ThreadID  string    `json:"threadId"`
	TrimPoint TrimPoint `json:"trimPoint"`
}

// NotificationMethod is thread/trimPoint/created.
func (ThreadTrimPointCreatedNotification) NotificationMethod() string {
	return "thread/trimPoint/created"
}

// ThreadTrimPointRemovedNotification tells that a trim point is no more: an undo or a
// restore took it back.
type ThreadTrimPointRemovedNotification struct {
	ThreadID    string `json:"threadId"`
	TrimPointID string `json:"trimPointId"`
}

// NotificationMethod is thread/trimPoint/removed.
func (ThreadTrimPointRemovedNotification) NotificationMethod() string {
	return "thread/trimPoint/removed"
}

// ThreadSessionStopRequestedNotification tells that no more requests are made in a provider
// session. CreatedAt is in Unix seconds.
type ThreadSessionStopRequestedNotification struct {
	ThreadID  string `json:"threadId"`
	SessionID string `json:"sessionId"`
	CreatedAt int64  `json:"createdAt"`
}

// NotificationMethod is thread/session/stopRequested.
func (ThreadSessionStopRequestedNotification) NotificationMethod() string {
	return "thread/session/stopRequested"
}

// ThreadSessionStartedNotification tells of the provider session that the next model
// request opens, and what it begins with.
type ThreadSessionStartedNotification struct {
	ThreadID  string           `json:"threadId"`
	SessionID string           `json:"sessionId"`
	Bootstrap SessionBootstrap `json:"bootstrap"`
}

// NotificationMethod is thread/session/started.
func (ThreadSessionStartedNotification) NotificationMethod() string { return "thread/session/started" }

// ThreadContextSummarizedNotification tells the summary of a trim point, null where that was
// taken back, and how long making it took, null where that is not known.
type ThreadContextSummarizedNotification struct {
	ThreadID          string  `json:"threadId"`
	TrimPointID       string  `json:"trimPointId"`
	Summary           *string `json:"summary"`
	CompactDurationMs *int64  `json:"compactDurationMs"`
}

// NotificationMethod is thread/context/summarized.
func (ThreadContextSummarizedNotification) NotificationMethod() string {
	return "thread/context/summarized"
}
